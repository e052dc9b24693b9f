package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
)

// Entropy is the randomness of uuid_v4 and uuid_v7; primitives.Entropy has this
// shape.
type Entropy interface {
	// Read fills p and never fails.
	Read(p []byte) (int, error)
}

// Headers are the transport headers of a group's messages.
type Headers interface {
	// Header returns the nth value, from 0, of a header of a message, which is counted
	// as the rows of the input batch are. The name is not kept.
	Header(row int, name []byte, nth int) (value string, present bool)
}

// Context is the execution of one unit of work: everything a program sees
// besides columns.
type Context struct {
	Now     int64 // the unit's snapshot of the domain clock, Unix nanoseconds
	Entropy Entropy
	Headers Headers // nil: every header is absent
	Memory  memory.Allocator
}

// Rows are the columns a program reads. A batch of a scope that the program does
// not read may be nil.
type Rows struct {
	// Input is the batch the selection chooses from; Metadata is aligned with it.
	Input    arrow.RecordBatch
	Metadata arrow.RecordBatch
	Select   batch.Selection
	// The others hold one row for each selected row, in order.
	Output  arrow.RecordBatch // the finished output, for programs that run after construction
	Partial arrow.RecordBatch
	Error   arrow.RecordBatch
}

// columnBytesMax is what the offsets of one STRING or BYTES column can address.
const columnBytesMax = 1<<31 - 1
