package expr

import (
	"fmt"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// bind gives a node whose operands are compiled its kernel or its value.
func (c *compiler) bind(d *node, e *typed.Expr) error {
	switch e.Op {
	case typed.OpLiteral:
		v := literal(e.Literal, e.Type.Kind)
		d.constant = &v
		return nil
	case typed.OpColumn:
		column := e.Column
		d.eval = func(f *frame) vec { return f.read(column, d) }
	case typed.OpCall:
		bind, known := builtins[e.Func]
		if !known {
			return fmt.Errorf("%w: function %s", ErrUnsupported, e.Func)
		}
		return bind(c, d, e)
	case typed.OpJSONValue, typed.OpTryJSONValue:
		d.kernel = c.jsonValue(e, e.Op == typed.OpTryJSONValue)
	case typed.OpJSONExists:
		d.kernel = c.jsonExists(e)
	case typed.OpList:
		d.kernel = c.listOf(e)
	case typed.OpNot:
		d.kernel = not
	case typed.OpAnd:
		d.kernel = and
	case typed.OpOr:
		d.kernel = or
	case typed.OpEq, typed.OpNe, typed.OpLt, typed.OpLe, typed.OpGt, typed.OpGe:
		d.kernel, d.raw = comparison(e.Op, e.Args[0].Type.Kind), true
	case typed.OpDistinct, typed.OpNotDistinct:
		d.kernel = distinct(comparison(typed.OpEq, e.Args[0].Type.Kind), e.Op == typed.OpDistinct)
	case typed.OpAdd, typed.OpSub, typed.OpMul, typed.OpDiv, typed.OpRem:
		d.kernel = c.arithmetic(e.Op, e.Type.Kind)
	case typed.OpNeg:
		d.kernel = c.negation(e.Type.Kind)
	case typed.OpIn:
		d.kernel = membership(e.Set, e.Args[0].Type.Kind, e.Negated)
	case typed.OpBetween:
		d.kernel = between(e.Args[0].Type.Kind, e.Negated)
	case typed.OpCast, typed.OpTryCast:
		return c.cast(d, e)
	case typed.OpCase:
		d.eval = c.caseWhen(d, e)
	case typed.OpCaseValue:
		d.eval = c.caseValue(d, e)
	default:
		return fmt.Errorf("%w: operation %d", ErrUnsupported, e.Op)
	}
	if d.kernel == nil && d.eval == nil {
		return unsupported(e)
	}
	return nil
}

func unsupported(e *typed.Expr) error {
	kind := vocab.KindInvalid
	if len(e.Args) > 0 {
		kind = e.Args[0].Type.Kind
	}
	return fmt.Errorf("%w: operation %d %s over %s", ErrUnsupported, e.Op, e.Func, kind)
}
