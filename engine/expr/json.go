package expr

import (
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
	"plexus/primitives/invariant"
)

// jsonFaults are those of an extraction in the order of their outcomes.
func (c *compiler) jsonFaults(what string, t vocab.Type) []*Fault {
	yields := "the value at the path is no " + t.String()
	if what == "JSON_EXISTS" {
		yields = "the document is no JSON"
	}
	return []*Fault{
		c.fault(CastFailed, what, "the document is no JSON"),
		c.fault(InvalidArgument, what, "the document is larger than 16 MiB or nests deeper than 128"),
		c.fault(CastFailed, what, yields),
	}
}

var jsonOutcomes = [...]outcome{jsonSound: present, jsonMalformed: refused, jsonTooDeep: refusedOtherwise}

// jsonExists reports whether a document has a value at a path.
func (c *compiler) jsonExists(e *typed.Expr) kernel {
	faults := c.jsonFaults("JSON_EXISTS", e.Type)
	return func(f *frame, args []vec) vec {
		var p jsonText
		return checkedBools(func(args []vec, i int) (bool, outcome) {
			verdict := p.find(args[0].text(i), e.Path)
			return p.any, jsonOutcomes[verdict]
		}, faults...)(f, args)
	}
}

// jsonValue reads the value at a path as a type; try makes what fails null.
func (c *compiler) jsonValue(e *typed.Expr, try bool) kernel {
	what := "JSON_VALUE"
	if try {
		what = "TRY_JSON_VALUE"
	}
	full := c.fault(Overflow, what, "the values of the batch pass what one column holds")
	faults := append(c.jsonFaults(what, e.Type), full)
	return func(f *frame, args []vec) vec {
		v := f.verdicts(args[0].valid, faults)
		todo := f.todo(v.valid)
		b := array.NewBuilder(f.ctx.Memory, batch.ArrowType(e.Type))
		defer b.Release()
		x := extraction{f: f}
		for i := range f.n {
			if todo != nil && !todo.has(i) {
				b.AppendNull()
				continue
			}
			o := x.row(b, args[0].text(i), e)
			if o != present {
				b.AppendNull()
			}
			if try && o > present && o != refusedForRoom {
				o = absent
			}
			v.note(i, o)
		}
		made := f.keep(b.NewArray())
		out := f.load(&column{array: made, aligned: true}, e.Type.Kind)
		out.source, out.valid = nil, v.close()
		return out
	}
}

// refusedForRoom is the outcome of a value that finds no room in its column.
const refusedForRoom = refusedThirdly + 1

// extraction reads the values of one column.
type extraction struct {
	f    *frame
	doc  jsonText
	text []byte
	size int // bytes of the texts so far
}

// row appends the value of one document, or says why there is none.
func (x *extraction) row(b array.Builder, doc []byte, e *typed.Expr) outcome {
	if verdict := x.doc.find(doc, e.Path); verdict != jsonSound {
		return jsonOutcomes[verdict]
	}
	found := x.doc.found
	if found.to == 0 || doc[found.from] == 'n' {
		return absent
	}
	value, size := doc[found.from:found.to], x.size
	if !x.read(nil, value, e.Type) {
		x.size = size
		return refusedThirdly
	}
	if !x.f.fits(size, x.size-size) {
		x.size = size
		return refusedForRoom
	}
	after := x.size
	x.read(b, value, e.Type)
	x.size = after
	return present
}

// read appends a value to a builder, or with none only looks whether it is of the
// type, and counts its bytes.
func (x *extraction) read(b array.Builder, value []byte, t vocab.Type) bool {
	if t.Elem == nil {
		l, text, ok := jsonScalar(value, t.Kind, x.text[:0])
		if text != nil {
			x.text = text
			x.size += len(text)
		}
		switch {
		case !ok || b == nil:
			return ok
		case t.Kind == vocab.String:
			b.(*array.StringBuilder).BinaryBuilder.Append(text)
		default:
			AppendLiteral(b, l)
		}
		return true
	}
	if value[0] != '[' {
		return false
	}
	var elements array.Builder
	switch b := b.(type) {
	case nil:
	case *array.ListBuilder:
		b.Append(true)
		elements = b.ValueBuilder()
	case *array.FixedSizeListBuilder:
		b.Append(true)
		elements = b.ValueBuilder()
	default:
		invariant.Thatf(false, "X1: a list is built by %T", b)
	}
	n, ok := 0, true
	eachItem(value, func(item []byte) bool {
		n++
		ok = x.read(elements, item, *t.Elem)
		return ok
	})
	return ok && (t.Kind == vocab.Vec || n == int(t.Size))
}

// eachItem calls f for the items of an array that was found sound.
func eachItem(value []byte, f func(item []byte) bool) {
	p := jsonText{b: value, i: 1}
	for p.space(); p.at() != ']'; p.space() {
		from := p.i
		if p.value(0, offPath) != jsonSound {
			return
		}
		if !f(value[from:p.i]) {
			return
		}
		if p.space(); p.at() == ',' {
			p.i++
		}
	}
}
