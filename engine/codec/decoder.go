package codec

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/batch"
	"plexus/engine/decide"
)

// Decoder reads the documents of one wire schema. It is immutable.
type Decoder struct {
	document
	layout *arrow.Schema
}

// NewDecoder compiles a plan.
func NewDecoder(plan *decide.CodecPlan) (*Decoder, error) {
	d, err := compile(plan)
	if err != nil {
		return nil, err
	}
	return &Decoder{document: *d, layout: batch.ArrowSchema(plan.Schema)}, nil
}

// Decode appends the one message of a payload to a group of this decoder and
// returns how many messages that were. On error the group is as before: a
// [*DecodeError] speaks of the payload, [ErrGroupFull] of the group. The payload
// is not kept.
func (d *Decoder) Decode(payload []byte, g *Group) (messages int, err error) {
	if len(payload) > PayloadBytesMax {
		return 0, &DecodeError{Codec: d.codec, Cause: CauseSize}
	}
	if g.bytes > groupBytesMax-len(payload) {
		return 0, ErrGroupFull
	}
	p := &g.parser
	p.b, p.i, p.beyond, p.field = payload, 0, 0, -1
	cause := p.document(d, g)
	p.b = nil
	if cause != accepted {
		for _, c := range g.columns {
			c.truncate(g.rows)
		}
		return 0, d.failure(p, cause)
	}
	g.rows++
	g.bytes += len(payload)
	return 1, nil
}

func (d *Decoder) failure(p *parser, cause Cause) *DecodeError {
	e := &DecodeError{Codec: d.codec, Cause: cause, Offset: p.i}
	if p.field >= 0 && !cause.located() && cause != CauseUndeclared {
		e.Field, e.Type = d.fields[p.field].name, d.fields[p.field].kind
	}
	return e
}

// parser reads one payload. i is the next byte; after a failure, where it was
// found.
type parser struct {
	b      []byte
	i      int
	beyond uint64 // high bits of the bytes of strings: set where not ASCII
	field  int    // being read, or -1
	seen   []bool
	text   []byte // unescaped text that is no column's
}

// document reads a payload: one object, with white space around it.
func (p *parser) document(d *Decoder, g *Group) Cause {
	clear(p.seen)
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != '{' {
		return CauseSyntax
	}
	p.i++
	found, cause := p.members(d, g)
	if cause != accepted {
		return cause
	}
	p.field = -1
	p.space()
	if p.i != len(p.b) {
		return CauseSyntax
	}
	if p.beyond&highBits != 0 && !utf8.Valid(p.b) {
		p.i = invalidUTF8(p.b)
		return CauseUTF8
	}
	if found == len(d.fields) {
		return accepted
	}
	return p.absent(d, g)
}

// absent completes the row with nulls for the members that did not occur.
func (p *parser) absent(d *Decoder, g *Group) Cause {
	for k := range d.fields {
		if p.seen[k] {
			continue
		}
		if !d.fields[k].optional {
			p.field = k
			return CauseMissing
		}
		g.columns[d.fields[k].column].appendNull()
	}
	return accepted
}

// members reads the members of the object up to its end and returns how many
// declared ones there were.
func (p *parser) members(d *Decoder, g *Group) (found int, cause Cause) {
	p.space()
	if p.i < len(p.b) && p.b[p.i] == '}' {
		p.i++
		return 0, accepted
	}
	next := 0 // documents mostly name their members in declared order
	for {
		k := next
		if k < len(d.fields) && hasPrefix(p.b[p.i:], d.fields[k].key) {
			p.i += len(d.fields[k].key)
		} else if k, cause = p.name(d); cause != accepted {
			return found, cause
		}
		p.space()
		p.field = k
		switch {
		case k < 0 && d.strict:
			return found, CauseUndeclared
		case k < 0:
			cause = p.skip(1)
		default:
			next = k + 1
			if cause = p.member(d, g, k); !p.seen[k] {
				p.seen[k] = true
				found++
			}
		}
		if cause != accepted {
			return found, cause
		}
		more, cause := p.more('}')
		if !more {
			return found, cause
		}
	}
}

// syntax is the cause of a document that is no JSON: no field's failure.
func (p *parser) syntax() Cause {
	p.field = -1
	return CauseSyntax
}

func hasPrefix(b, prefix []byte) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == string(prefix)
}

// name reads a member name and its colon, and returns the field, or -1.
func (p *parser) name(d *Decoder) (k int, cause Cause) {
	p.field = -1
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return -1, CauseSyntax
	}
	name, cause := p.plainString()
	if cause != accepted {
		return -1, cause
	}
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != ':' {
		return -1, CauseSyntax
	}
	p.i++
	return d.index.find(d.fields, name), accepted
}

// member reads the value of a declared member into its column.
func (p *parser) member(d *Decoder, g *Group, k int) Cause {
	f := &d.fields[k]
	c := g.columns[f.column]
	if p.seen[k] {
		if d.strict {
			return CauseDuplicate
		}
		c.truncate(g.rows) // the last one wins
	}
	if p.i < len(p.b) && p.b[p.i] == 'n' {
		if !p.word("null") {
			return p.syntax()
		}
		if !f.optional {
			return CauseNull
		}
		c.appendNull()
		return accepted
	}
	return p.value(&f.value, c)
}

// value reads a value that is not null into a column.
func (p *parser) value(v *value, c *column) Cause {
	switch v.form {
	case formString:
		return p.string(c)
	case formSigned, formUnsigned:
		return p.integer(v, c)
	case formF64:
		return p.float(c, 64)
	case formF32:
		return p.float(c, 32)
	case formBool:
		return p.bool(c)
	case formDatetime:
		return p.datetime(c)
	case formBytes:
		return p.base64(c)
	default:
		return p.list(v, c)
	}
}

func (p *parser) bool(c *column) Cause {
	switch {
	case p.word("true"):
		c.appendBool(true)
	case p.word("false"):
		c.appendBool(false)
	default:
		return p.mismatch()
	}
	return accepted
}

// list reads an array. Its items are appended as they come; truncate takes them
// back if the payload fails.
func (p *parser) list(v *value, c *column) Cause {
	if p.i >= len(p.b) || p.b[p.i] != '[' {
		return p.mismatch()
	}
	p.i++
	items := 0
	p.space()
	if p.i < len(p.b) && p.b[p.i] == ']' {
		p.i++
		return p.endList(v, c, items)
	}
	for {
		if p.i < len(p.b) && p.b[p.i] == 'n' {
			if !p.word("null") {
				return p.syntax()
			}
			return CauseNull
		}
		if v.length >= 0 && items == v.length {
			return CauseLength
		}
		if cause := p.value(v.item, c.child); cause != accepted {
			return cause
		}
		items++
		switch more, cause := p.more(']'); {
		case cause != accepted:
			return cause
		case !more:
			return p.endList(v, c, items)
		}
	}
}

func (p *parser) endList(v *value, c *column, items int) Cause {
	if v.length < 0 {
		c.closeVariable(c.child.rows)
		return accepted
	}
	if items != v.length {
		return CauseLength
	}
	c.present()
	return accepted
}
