package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// castable reports whether values of one kind can be cast to another.
func castable(from, to vocab.Kind) bool {
	switch {
	case !from.Scalar() || !to.Scalar():
		return false
	case from == to:
		return true
	case from == vocab.Bytes || to == vocab.Bytes:
		return false
	case from == vocab.Bool && to == vocab.Datetime, from == vocab.Datetime && to == vocab.Bool:
		return false
	}
	return true
}

// castFails reports whether a cast between castable kinds can fail for a value.
func castFails(from, to vocab.Kind) bool {
	switch {
	case from == to:
		return false
	case to == vocab.String: // builds text, and a column holds only so much
		return true
	case from == vocab.Bool, to == vocab.Bool && from != vocab.String, to.Float() && from != vocab.String:
		return false
	case from.Integer() && to.Integer():
		return !widens(from, to)
	case from == vocab.Datetime:
		return to != vocab.I64
	case to == vocab.Datetime && from.Integer():
		return from == vocab.U64
	}
	return true
}

// integerBits are the widths of the integer kinds.
var integerBits = [...]int{vocab.U8: 8, vocab.U16: 16, vocab.U32: 32, vocab.U64: 64, vocab.I8: 8, vocab.I16: 16, vocab.I32: 32, vocab.I64: 64}

// widens reports whether every value of one integer kind is one of another.
func widens(from, to vocab.Kind) bool {
	switch {
	case from.Signed() == to.Signed():
		return integerBits[from] <= integerBits[to]
	case to.Signed():
		return integerBits[from] < integerBits[to]
	}
	return false
}

func (c *checker) cast(e *ast.Cast) *Expr {
	x := c.expr(e.X, nil)
	if x == nil {
		return nil
	}
	if !castable(x.Type.Kind, e.Type.Kind) {
		c.fault(ast.CodeUnsupportedCast, e.Span, "%s cannot be cast to %s", x.Type, e.Type.Type)
		return nil
	}
	t := combine(OpCast, e.Type.Type, []*Expr{x})
	t.Span = e.Span
	if e.Try {
		t.Op, t.Optional = OpTryCast, true
	} else {
		t.Fallible = t.Fallible || castFails(x.Type.Kind, e.Type.Kind)
	}
	return t
}
