package codec

import (
	"fmt"
	"math"

	"plexus/engine/decide"
	"plexus/nspl/vocab"
)

// form is how a value is written in a document.
type form uint8

const (
	formString form = iota
	formDatetime
	formSigned
	formUnsigned
	formF32
	formF64
	formBool
	formBytes
	formList
)

// value is the compiled form of a member or of the items of a list.
type value struct {
	form form
	// An integer's magnitude is at most above where positive and below where
	// negative.
	above, below uint64
	item         *value
	length       int // of an ARRAY, else -1
}

// field is one declared member.
type field struct {
	value
	name     string
	key      []byte // the member's name as it stands in a document: "name":
	column   int
	optional bool
	kind     vocab.Type
}

// document is a compiled wire schema.
type document struct {
	codec  string
	schema *vocab.Schema
	strict bool
	fields []field
	index  names
}

func compile(plan *decide.CodecPlan) (*document, error) {
	if plan.Wire.Format != vocab.WireJSON {
		return nil, fmt.Errorf("%w: codec '%s': wire format %s", ErrUnsupported, plan.Name, plan.Wire.Format)
	}
	d := &document{codec: plan.Name, schema: plan.Schema, strict: plan.Wire.Strict}
	for _, w := range plan.Wire.Fields {
		column := plan.Schema.Fields[w.Column]
		if column.Type.Kind == vocab.Datetime && !w.RFC3339 {
			return nil, fmt.Errorf("%w: codec '%s': field '%s' needs ENCODE AS RFC3339", ErrUnsupported, plan.Name, w.Name)
		}
		d.fields = append(d.fields, field{
			value:    compileValue(column.Type),
			name:     w.Name,
			key:      append(appendString(nil, []byte(w.Name)), ':'),
			column:   w.Column,
			optional: column.Optional,
			kind:     column.Type,
		})
	}
	d.index = indexNames(d.fields)
	return d, nil
}

func compileValue(t vocab.Type) value {
	v := value{length: -1}
	switch t.Kind {
	case vocab.U8:
		v.form, v.above = formUnsigned, math.MaxUint8
	case vocab.U16:
		v.form, v.above = formUnsigned, math.MaxUint16
	case vocab.U32:
		v.form, v.above = formUnsigned, math.MaxUint32
	case vocab.U64:
		v.form, v.above = formUnsigned, math.MaxUint64
	case vocab.I8:
		v.form, v.above, v.below = formSigned, math.MaxInt8, 1<<7
	case vocab.I16:
		v.form, v.above, v.below = formSigned, math.MaxInt16, 1<<15
	case vocab.I32:
		v.form, v.above, v.below = formSigned, math.MaxInt32, 1<<31
	case vocab.I64:
		v.form, v.above, v.below = formSigned, math.MaxInt64, 1<<63
	case vocab.F32:
		v.form = formF32
	case vocab.F64:
		v.form = formF64
	case vocab.Bool:
		v.form = formBool
	case vocab.String:
		v.form = formString
	case vocab.Bytes:
		v.form = formBytes
	case vocab.Datetime:
		v.form = formDatetime
	default:
		item := compileValue(*t.Elem)
		v.form, v.item = formList, &item
		if t.Kind == vocab.Array {
			v.length = int(t.Size)
		}
	}
	return v
}

// names finds declared members by name: an open-addressed table, at most half
// full. Members in declared order never come here.
type names struct {
	slots []int16 // field index + 1, or 0
}

func indexNames(fields []field) names {
	size := 4
	for size < 2*len(fields) {
		size *= 2
	}
	n := names{make([]int16, size)}
	for i := range fields {
		at := n.start([]byte(fields[i].name))
		for n.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		n.slots[at] = int16(i + 1)
	}
	return n
}

// start returns the slot where the search for a name begins.
func (n names) start(name []byte) int {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	h := uint32(offset)
	for _, b := range name {
		h = (h ^ uint32(b)) * prime
	}
	return int(h) & (len(n.slots) - 1)
}

// find returns the index of a declared member, or -1.
func (n names) find(fields []field, name []byte) int {
	for at := n.start(name); n.slots[at] != 0; at = (at + 1) & (len(n.slots) - 1) {
		if i := int(n.slots[at]) - 1; fields[i].name == string(name) {
			return i
		}
	}
	return -1
}
