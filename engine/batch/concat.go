package batch

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/primitives/invariant"
)

// Concat joins batches of one layout in order. It fails only when a column
// would pass the 2 GiB that one column can hold.
func Concat(mem memory.Allocator, recs []arrow.RecordBatch) (arrow.RecordBatch, error) {
	invariant.That(len(recs) > 0, "B1: nothing to concatenate has no layout")
	if len(recs) == 1 {
		recs[0].Retain()
		return recs[0], nil
	}
	var rows int64
	for _, rec := range recs {
		rows += rec.NumRows()
	}
	columns := make([]arrow.Array, 0, recs[0].NumCols())
	defer func() {
		for _, column := range columns {
			column.Release()
		}
	}()
	parts := make([]arrow.Array, len(recs))
	for i := range int(recs[0].NumCols()) {
		for j, rec := range recs {
			parts[j] = rec.Column(i)
		}
		column, err := array.Concatenate(parts, mem)
		if err != nil {
			return nil, fmt.Errorf("%w: column %d of %d batches: %w", ErrColumnFull, i, len(recs), err)
		}
		columns = append(columns, column)
	}
	return array.NewRecordBatch(recs[0].Schema(), columns, rows), nil
}
