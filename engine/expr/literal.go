package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/nspl/typed"
)

// AppendLiteral adds a constant to the builder of a column of its type.
func AppendLiteral(b array.Builder, l typed.Literal) {
	if l.Null {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Uint8Builder:
		b.Append(uint8(l.Uint))
	case *array.Uint16Builder:
		b.Append(uint16(l.Uint))
	case *array.Uint32Builder:
		b.Append(uint32(l.Uint))
	case *array.Uint64Builder:
		b.Append(l.Uint)
	case *array.Int8Builder:
		b.Append(int8(l.Int))
	case *array.Int16Builder:
		b.Append(int16(l.Int))
	case *array.Int32Builder:
		b.Append(int32(l.Int))
	case *array.Int64Builder:
		b.Append(l.Int)
	case *array.Float32Builder:
		b.Append(float32(l.Float))
	case *array.Float64Builder:
		b.Append(l.Float)
	case *array.BooleanBuilder:
		b.Append(l.Bool)
	case *array.StringBuilder:
		b.Append(l.Str)
	case *array.BinaryBuilder:
		b.Append([]byte(l.Str))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(l.Int))
	default: // lists are no literals
		b.AppendNull()
	}
}
