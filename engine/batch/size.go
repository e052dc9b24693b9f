package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// LogicalSize measures what MAX BATCH SIZE bounds: for every column the
// validity bits if the visible rows hold a null, the value bytes the rows
// address, the offsets, and the visible child ranges of lists. Capacity that no
// row addresses is not counted, so a slice measures like its dense copy.
func LogicalSize(rec arrow.RecordBatch) int64 {
	var size int64
	for _, col := range rec.Columns() {
		data := col.Data()
		size += logicalSize(data, data.Offset(), data.Len())
	}
	return size
}

// logicalSize measures n rows from the physical row start on.
func logicalSize(data arrow.ArrayData, start, n int) int64 {
	var size int64
	if hasNull(data, start, n) {
		size += int64(n+7) / 8
	}
	switch t := data.DataType().(type) {
	case *arrow.BooleanType:
		size += int64(n+7) / 8
	case *arrow.StringType, *arrow.BinaryType:
		size += 4 * int64(n+1)
		if n > 0 {
			offsets := offsetsOf(data)
			size += int64(offsets[start+n] - offsets[start])
		}
	case *arrow.ListType:
		size += 4 * int64(n+1)
		if n > 0 {
			offsets := offsetsOf(data)
			child := data.Children()[0]
			from, to := int(offsets[start]), int(offsets[start+n])
			size += logicalSize(child, child.Offset()+from, to-from)
		}
	case *arrow.FixedSizeListType:
		child := data.Children()[0]
		length := int(t.Len())
		size += logicalSize(child, child.Offset()+start*length, n*length)
	default:
		size += int64(n) * int64(ArrowWidth(t))
	}
	return size
}

// hasNull reports whether one of n physical rows from start on is null.
func hasNull(data arrow.ArrayData, start, n int) bool {
	validity := data.Buffers()[0]
	if validity == nil || validity.Len() == 0 || data.NullN() == 0 {
		return false
	}
	return bitutil.CountSetBits(validity.Bytes(), start, n) != n
}

// offsetsOf returns every offset of a variable-size layout, indexed by physical
// row.
func offsetsOf(data arrow.ArrayData) []int32 {
	buffer := data.Buffers()[1]
	if buffer == nil {
		return nil
	}
	return arrow.Int32Traits.CastFromBytes(buffer.Bytes())
}
