package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

var boolType = vocab.Scalar(vocab.Bool)

func (c *checker) unary(e *ast.Unary) *Expr {
	x := c.expr(e.X, nil)
	if x == nil {
		return nil
	}
	if e.Op == ast.Not {
		if x.Type.Kind != vocab.Bool {
			c.fault(ast.CodeTypeMismatch, x.Span, "NOT needs a BOOL, not %s", x.Type).WithHint("NOT binds tightly: write NOT (…)")
			return nil
		}
		t := combine(OpNot, boolType, []*Expr{x})
		t.Span = e.Span
		return t
	}
	k := x.Type.Kind
	if !k.Signed() && !k.Float() {
		c.fault(ast.CodeTypeMismatch, x.Span, "- needs a signed number, not %s", x.Type)
		return nil
	}
	if x.Op == OpLiteral && !x.Literal.Null && (k == vocab.F64 || k == vocab.I64 && x.Literal.Int > 0) {
		// A negative number is a literal that cannot be written.
		return literal(e.Span, k, Literal{Int: -x.Literal.Int, Float: -x.Literal.Float})
	}
	t := combine(OpNeg, x.Type, []*Expr{x})
	t.Span, t.Fallible = e.Span, t.Fallible || k.Integer()
	return t
}

// binaryOps are the operations of the infix operators.
var binaryOps = [...]Op{
	ast.Or: OpOr, ast.And: OpAnd, ast.Eq: OpEq, ast.Ne: OpNe, ast.Lt: OpLt, ast.Le: OpLe, ast.Gt: OpGt, ast.Ge: OpGe,
	ast.Distinct: OpDistinct, ast.NotDistinct: OpNotDistinct,
	ast.Add: OpAdd, ast.Sub: OpSub, ast.Mul: OpMul, ast.Div: OpDiv, ast.Rem: OpRem,
}

func (c *checker) binary(e *ast.Binary) *Expr {
	x, y := c.expr(e.X, nil), c.expr(e.Y, nil)
	if x == nil || y == nil {
		return nil
	}
	args := []*Expr{x, y}
	var t *Expr
	switch e.Op {
	case ast.Or, ast.And:
		t = c.logic(e.Op, args)
	case ast.Eq, ast.Ne, ast.Distinct, ast.NotDistinct:
		t = c.compare(e, args, vocab.Kind.Scalar)
	case ast.Lt, ast.Le, ast.Gt, ast.Ge:
		t = c.compare(e, args, isOrdered)
	default:
		t = c.compare(e, args, vocab.Kind.Numeric)
		if t != nil {
			t.Type, t.Fallible = x.Type, true
		}
	}
	if t == nil {
		return nil
	}
	if e.Op == ast.Distinct || e.Op == ast.NotDistinct {
		t.Optional = false
	}
	t.Op, t.Span = binaryOps[e.Op], e.Span
	return t
}

func (c *checker) logic(op ast.BinaryOp, args []*Expr) *Expr {
	ok := true
	for _, a := range args {
		if a.Type.Kind != vocab.Bool {
			c.fault(ast.CodeTypeMismatch, a.Span, "%s needs BOOL operands, not %s", op, a.Type)
			ok = false
		}
	}
	if !ok {
		return nil
	}
	return combine(0, boolType, args)
}

// compare checks that both operands have one type that the operator takes.
func (c *checker) compare(e *ast.Binary, args []*Expr, takes func(vocab.Kind) bool) *Expr {
	x, y := args[0], args[1]
	if !takes(x.Type.Kind) {
		c.operandFault(e.Op.String(), x)
		return nil
	}
	if !x.Type.Equal(y.Type) {
		c.sameType(e.Op.String()+" needs operands", x, y)
		return nil
	}
	return combine(0, boolType, args)
}

func (c *checker) operandFault(op string, x *Expr) {
	d := c.fault(ast.CodeTypeMismatch, x.Span, "%s does not take %s", op, x.Type)
	switch {
	case op == "+" && x.Type.Kind == vocab.String:
		d.Hint = "concat(a, b) joins text"
	case x.Type.Kind == vocab.Array || x.Type.Kind == vocab.Vec:
		d.Hint = "lists cannot be compared"
	}
}

// sameType reports two operands of different types, with the cast that would
// help.
func (c *checker) sameType(needs string, x, y *Expr) {
	span := x.Span.Cover(y.Span)
	d := c.fault(ast.CodeTypeMismatch, span, "%s of one type, not %s and %s", needs, x.Type, y.Type)
	switch {
	case pointless(x, y) || pointless(y, x):
		d.WithHint("a number with a point is an F64: 80.0 instead of 80")
	case y.Op == OpLiteral && castable(y.Type.Kind, x.Type.Kind):
		d.WithHint("cast the literal: … AS %s", x.Type)
	case x.Op == OpLiteral && castable(x.Type.Kind, y.Type.Kind):
		d.WithHint("cast the literal: … AS %s", y.Type)
	case castable(y.Type.Kind, x.Type.Kind):
		d.WithHint("cast one of them: … AS %s", x.Type)
	}
}

// pointless reports whether one of two operands is a number that lacks its point.
func pointless(number, other *Expr) bool {
	return number.Op == OpLiteral && number.Type.Kind == vocab.I64 && other.Type.Kind == vocab.F64
}

func (c *checker) between(e *ast.Between) *Expr {
	args, ok := c.args([]ast.Expr{e.X, e.Low, e.High})
	if !ok {
		return nil
	}
	if !isOrdered(args[0].Type.Kind) {
		c.operandFault("BETWEEN", args[0])
		return nil
	}
	for _, bound := range args[1:] {
		if !bound.Type.Equal(args[0].Type) {
			c.sameType("BETWEEN needs operands", args[0], bound)
			return nil
		}
	}
	t := combine(OpBetween, boolType, args)
	t.Span, t.Negated = e.Span, e.Not
	return t
}

func (c *checker) in(e *ast.In) *Expr {
	x := c.expr(e.X, nil)
	if x == nil {
		return nil
	}
	if k := x.Type.Kind; !isOrdered(k) && k != vocab.Bool {
		c.operandFault("IN", x)
		return nil
	}
	t := combine(OpIn, boolType, []*Expr{x})
	t.Span, t.Negated, t.Set = e.Span, e.Not, make([]Literal, 0, len(e.Set))
	if len(e.Set) == 0 {
		t.Optional = false
	}
	ok := true
	for _, element := range e.Set {
		v, kind, why := constant(element)
		switch {
		case why != "":
			c.fault(ast.CodeInSet, element.Place(), "an element of IN %s", why)
			ok = false
		case kind != x.Type.Kind:
			c.fault(ast.CodeInSet, element.Place(), "an element of IN is %s, the operand is %s", vocab.Scalar(kind), x.Type).
				WithHint("cast it: … AS %s", x.Type)
			ok = false
		default:
			t.Set = append(t.Set, v)
		}
	}
	if !ok {
		return nil
	}
	return t
}

func (c *checker) conditional(e *ast.Conditional, want *vocab.Type) *Expr {
	var operand *Expr
	if e.Operand != nil {
		operand = c.expr(e.Operand, nil)
		if operand == nil {
			return nil
		}
		if !operand.Type.Kind.Scalar() {
			c.operandFault("CASE", operand)
			return nil
		}
	}
	results := make([]ast.Expr, 0, len(e.Arms)+1)
	for _, arm := range e.Arms {
		results = append(results, arm.Then)
	}
	if e.Else != nil {
		results = append(results, e.Else)
	}
	values, ok := c.results(results, want)
	conditions := make([]*Expr, len(e.Arms))
	for i, arm := range e.Arms {
		conditions[i] = c.condition(arm.When, operand)
		ok = ok && conditions[i] != nil
	}
	if !ok {
		return nil
	}
	if e.Else == nil {
		values = append(values, typedNull(e.Span, values[0].Type))
	}
	return assemble(e, operand, conditions, values)
}

// assemble makes the node of a sound conditional.
func assemble(e *ast.Conditional, operand *Expr, conditions, values []*Expr) *Expr {
	var args []*Expr
	op := OpCase
	if operand != nil {
		op, args = OpCaseValue, append(args, operand)
	}
	for i, condition := range conditions {
		args = append(args, condition, values[i])
	}
	args = append(args, values[len(values)-1])
	t := combine(op, values[0].Type, args)
	t.Span, t.Optional = e.Span, false
	for _, v := range values {
		t.Optional = t.Optional || v.Optional
	}
	return t
}

// condition checks a WHEN: a BOOL, or with an operand a value of its type.
func (c *checker) condition(e ast.Expr, operand *Expr) *Expr {
	t := c.expr(e, nil)
	switch {
	case t == nil:
		return nil
	case operand == nil && t.Type.Kind != vocab.Bool:
		c.fault(ast.CodeTypeMismatch, t.Span, "a condition needs a BOOL, not %s", t.Type)
		return nil
	case operand != nil && !t.Type.Equal(operand.Type):
		c.sameType("CASE needs values", operand, t)
		return nil
	}
	return t
}

// results checks the results of a conditional: all of one scalar type, which
// NULL takes from the others.
func (c *checker) results(list []ast.Expr, want *vocab.Type) ([]*Expr, bool) {
	values, ok := make([]*Expr, len(list)), true
	common := want
	var first *Expr
	for i, e := range list {
		if _, null := e.(*ast.NullLit); null {
			continue
		}
		values[i] = c.expr(e, want)
		switch {
		case values[i] == nil:
			ok = false
		case !values[i].Type.Kind.Scalar():
			c.fault(ast.CodeUnsupportedResult, values[i].Span, "a conditional cannot yield %s", values[i].Type)
			ok = false
		case first == nil:
			first, common = values[i], &values[i].Type
		case !values[i].Type.Equal(first.Type):
			c.sameType("a conditional needs results", first, values[i])
			ok = false
		}
	}
	if !ok {
		return nil, false
	}
	for i, e := range list {
		if n, null := e.(*ast.NullLit); null {
			values[i] = c.null(n, common)
			ok = ok && values[i] != nil
		}
	}
	return values, ok
}
