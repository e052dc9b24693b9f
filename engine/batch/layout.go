package batch

import (
	"github.com/apache/arrow-go/v18/arrow"

	"plexus/nspl/vocab"
)

// datetime is the Arrow layout of DATETIME.
var datetime = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+00:00"}

// scalarTypes is the Arrow layout of every scalar kind.
var scalarTypes = [...]arrow.DataType{
	vocab.U8:       arrow.PrimitiveTypes.Uint8,
	vocab.U16:      arrow.PrimitiveTypes.Uint16,
	vocab.U32:      arrow.PrimitiveTypes.Uint32,
	vocab.U64:      arrow.PrimitiveTypes.Uint64,
	vocab.I8:       arrow.PrimitiveTypes.Int8,
	vocab.I16:      arrow.PrimitiveTypes.Int16,
	vocab.I32:      arrow.PrimitiveTypes.Int32,
	vocab.I64:      arrow.PrimitiveTypes.Int64,
	vocab.F32:      arrow.PrimitiveTypes.Float32,
	vocab.F64:      arrow.PrimitiveTypes.Float64,
	vocab.Bool:     arrow.FixedWidthTypes.Boolean,
	vocab.String:   arrow.BinaryTypes.String,
	vocab.Bytes:    arrow.BinaryTypes.Binary,
	vocab.Datetime: datetime,
}

// ArrowType returns the layout of a type. List elements are never null.
func ArrowType(t vocab.Type) arrow.DataType {
	switch t.Kind {
	case vocab.Array:
		return arrow.FixedSizeListOfNonNullable(int32(t.Size), ArrowType(*t.Elem))
	case vocab.Vec:
		return arrow.ListOfNonNullable(ArrowType(*t.Elem))
	default:
		return scalarTypes[t.Kind]
	}
}

// ArrowSchema returns the layout of a schema: its fields in order, nullable
// where optional. Names and sensitivity stay with the schema; no metadata is
// attached.
func ArrowSchema(s *vocab.Schema) *arrow.Schema {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		fields[i] = arrow.Field{Name: f.Name, Type: ArrowType(f.Type), Nullable: f.Optional}
	}
	return arrow.NewSchema(fields, nil)
}

// Width returns the bytes of one value of a fixed-width kind, and 0 for BOOL
// and every kind of variable size.
func Width(k vocab.Kind) int {
	switch k {
	case vocab.U8, vocab.I8:
		return 1
	case vocab.U16, vocab.I16:
		return 2
	case vocab.U32, vocab.I32, vocab.F32:
		return 4
	case vocab.U64, vocab.I64, vocab.F64, vocab.Datetime:
		return 8
	default:
		return 0
	}
}

// ArrowWidth is Width for an Arrow layout.
func ArrowWidth(t arrow.DataType) int {
	switch t.ID() {
	case arrow.UINT8, arrow.INT8:
		return 1
	case arrow.UINT16, arrow.INT16:
		return 2
	case arrow.UINT32, arrow.INT32, arrow.FLOAT32:
		return 4
	case arrow.UINT64, arrow.INT64, arrow.FLOAT64, arrow.TIMESTAMP:
		return 8
	default:
		return 0
	}
}
