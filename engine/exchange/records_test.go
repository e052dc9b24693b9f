package exchange

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// numbers is a batch of consecutive numbers.
func numbers(schema *arrow.Schema, rows int, from int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for r := range rows {
		b.Field(0).(*array.Int64Builder).Append(from + int64(r))
	}
	return b.NewRecordBatch()
}
