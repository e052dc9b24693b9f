package exchange

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Fingerprint names an exact schema: names, order, types and nullability.
type Fingerprint [sha256.Size]byte

// Layout is a schema that bodies may have.
type Layout struct {
	Schema      *arrow.Schema
	Fingerprint Fingerprint

	nodes   int // field nodes of a record batch message
	buffers int
}

// NewLayout checks that every type may travel and fingerprints the schema.
func NewLayout(s *arrow.Schema) (*Layout, error) {
	l := &Layout{Schema: s}
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(s.NumFields())))
	for _, f := range s.Fields() {
		text, err := l.describe(nil, f.Type, 0)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		b := binary.AppendUvarint(nil, uint64(len(f.Name)))
		b = append(b, f.Name...)
		b = append(b, boolByte(f.Nullable))
		h.Write(append(b, text...))
	}
	h.Sum(l.Fingerprint[:0])
	return l, nil
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// layoutDepthMax bounds nested lists; no schema comes near it.
const layoutDepthMax = 64

// describe appends the canonical text of a type and counts its nodes and buffers.
func (l *Layout) describe(b []byte, t arrow.DataType, depth int) ([]byte, error) {
	if depth > layoutDepthMax {
		return nil, fmt.Errorf("lists nest deeper than %d", layoutDepthMax)
	}
	l.nodes++
	l.buffers += 2
	b = append(b, byte(t.ID()))
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Float32Type, *arrow.Float64Type:
		return b, nil
	case *arrow.TimestampType:
		if t.Unit != arrow.Nanosecond || t.TimeZone != "+00:00" {
			return nil, fmt.Errorf("type %v does not travel: timestamps are nanoseconds in UTC", t)
		}
		return b, nil
	case *arrow.StringType, *arrow.BinaryType:
		l.buffers++
		return b, nil
	case *arrow.ListType:
		if t.ElemField().Nullable {
			return nil, fmt.Errorf("type %v does not travel: elements are never null", t)
		}
		return l.describe(b, t.Elem(), depth+1)
	case *arrow.FixedSizeListType:
		if t.ElemField().Nullable {
			return nil, fmt.Errorf("type %v does not travel: elements are never null", t)
		}
		l.buffers--
		b = binary.AppendUvarint(b, uint64(t.Len()))
		return l.describe(b, t.Elem(), depth+1)
	}
	return nil, fmt.Errorf("type %v does not travel", t)
}
