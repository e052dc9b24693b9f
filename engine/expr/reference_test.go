package expr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// value is one value of the reference interpreter: integers and date-times are
// exact numbers of any size.
type value struct {
	null bool
	n    *big.Int
	f    float64
	b    bool
	s    string
}

var null = value{null: true}

func number64(n int64) value  { return value{n: big.NewInt(n)} }
func truthValue(b bool) value { return value{b: b} }
func textValue(s string) value {
	return value{s: s}
}

// interpreter evaluates one row, operator by operator, and keeps the first
// failure.
type interpreter struct {
	columns func(c typed.Column) value
	first   string
}

func (r *interpreter) fail(kind Kind) value {
	if r.first == "" {
		r.first = kind.String()
	}
	return null
}

// bounds of the integer kinds.
func bounds(k vocab.Kind) (low, high *big.Int) {
	width := map[vocab.Kind]uint{vocab.U8: 8, vocab.U16: 16, vocab.U32: 32, vocab.U64: 64,
		vocab.I8: 8, vocab.I16: 16, vocab.I32: 32, vocab.I64: 64, vocab.Datetime: 64}[k]
	one := big.NewInt(1)
	if k >= vocab.U8 && k <= vocab.U64 {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, width), one)
	}
	half := new(big.Int).Lsh(one, width-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}

func fitsKind(n *big.Int, k vocab.Kind) bool {
	low, high := bounds(k)
	return n.Cmp(low) >= 0 && n.Cmp(high) <= 0
}

func (r *interpreter) eval(e *typed.Expr) value {
	switch e.Op {
	case typed.OpLiteral:
		return literalValue(e.Literal, e.Type.Kind)
	case typed.OpColumn:
		return r.columns(e.Column)
	case typed.OpCase:
		last := len(e.Args) - 1
		for i := 0; i < last; i += 2 {
			if c := r.eval(e.Args[i]); !c.null && c.b {
				return r.eval(e.Args[i+1])
			}
		}
		return r.eval(e.Args[last])
	case typed.OpCaseValue:
		x := r.eval(e.Args[0])
		last := len(e.Args) - 1
		for i := 1; i < last; i += 2 {
			m := r.eval(e.Args[i])
			if !x.null && !m.null && equalValues(x, m, e.Args[0].Type.Kind) {
				return r.eval(e.Args[i+1])
			}
		}
		return r.eval(e.Args[last])
	}
	args := make([]value, len(e.Args))
	anyNull := false
	for i, a := range e.Args {
		args[i] = r.eval(a)
		anyNull = anyNull || args[i].null
	}
	kind := vocab.KindInvalid
	if len(e.Args) > 0 {
		kind = e.Args[0].Type.Kind
	}
	switch e.Op {
	case typed.OpAnd:
		return logic(args, false)
	case typed.OpOr:
		return logic(args, true)
	case typed.OpDistinct, typed.OpNotDistinct:
		same := args[0].null && args[1].null || !anyNull && equalValues(args[0], args[1], kind)
		return truthValue(same != (e.Op == typed.OpDistinct))
	case typed.OpBetween:
		low, high := compareOp(typed.OpGe, args[0], args[1], kind), compareOp(typed.OpLe, args[0], args[2], kind)
		return negated(logic([]value{low, high}, false), e.Negated)
	case typed.OpIn:
		return r.in(e, args[0], kind)
	case typed.OpCall:
		return r.call(e, args, kind, anyNull)
	}
	if anyNull {
		return null
	}
	switch e.Op {
	case typed.OpNot:
		return truthValue(!args[0].b)
	case typed.OpNeg:
		if kind.Float() {
			return value{f: -args[0].f}
		}
		return r.checked(new(big.Int).Neg(args[0].n), kind)
	case typed.OpEq, typed.OpNe, typed.OpLt, typed.OpLe, typed.OpGt, typed.OpGe:
		return compareOp(e.Op, args[0], args[1], kind)
	case typed.OpCast, typed.OpTryCast:
		v, ok := castValue(args[0], kind, e.Type.Kind)
		switch {
		case ok:
			return v
		case e.Op == typed.OpTryCast:
			return null
		}
		return r.fail(CastFailed)
	default:
		return r.arithmetic(e.Op, args[0], args[1], kind)
	}
}

func literalValue(l typed.Literal, k vocab.Kind) value {
	switch {
	case l.Null:
		return null
	case k >= vocab.U8 && k <= vocab.U64:
		return value{n: new(big.Int).SetUint64(l.Uint)}
	case k == vocab.F32:
		return value{f: float64(float32(l.Float))}
	default:
		return value{n: big.NewInt(l.Int), f: l.Float, b: l.Bool, s: l.Str}
	}
}

func negated(v value, negate bool) value {
	if !v.null && negate {
		v.b = !v.b
	}
	return v
}

func logic(args []value, decisive bool) value {
	out := truthValue(!decisive)
	for _, a := range args {
		if !a.null && a.b == decisive {
			return truthValue(decisive)
		}
		out.null = out.null || a.null
	}
	return out
}

func equalValues(a, b value, k vocab.Kind) bool {
	switch {
	case k.Float():
		return a.f == b.f
	case k == vocab.Bool:
		return a.b == b.b
	case k == vocab.String || k == vocab.Bytes:
		return a.s == b.s
	default:
		return a.n.Cmp(b.n) == 0
	}
}

func compareOp(op typed.Op, a, b value, k vocab.Kind) value {
	if a.null || b.null {
		return null
	}
	if op == typed.OpEq || op == typed.OpNe {
		return truthValue(equalValues(a, b, k) == (op == typed.OpEq))
	}
	var less, same bool
	switch {
	case k.Float():
		less, same = a.f < b.f, a.f == b.f
		if a.f != a.f || b.f != b.f {
			return truthValue(false)
		}
	case k == vocab.String || k == vocab.Bytes:
		less, same = a.s < b.s, a.s == b.s
	default:
		less, same = a.n.Cmp(b.n) < 0, a.n.Cmp(b.n) == 0
	}
	switch op {
	case typed.OpLt:
		return truthValue(less)
	case typed.OpLe:
		return truthValue(less || same)
	case typed.OpGt:
		return truthValue(!less && !same)
	default:
		return truthValue(!less)
	}
}

func (r *interpreter) in(e *typed.Expr, x value, k vocab.Kind) value {
	if len(e.Set) == 0 {
		return truthValue(e.Negated)
	}
	if x.null {
		return null
	}
	found := false
	for _, l := range e.Set {
		found = found || equalValues(x, literalValue(l, k), k)
	}
	return truthValue(found != e.Negated)
}

func (r *interpreter) checked(n *big.Int, k vocab.Kind) value {
	if !fitsKind(n, k) {
		return r.fail(Overflow)
	}
	return value{n: n}
}

func (r *interpreter) finite(f float64, k vocab.Kind) value {
	if k == vocab.F32 {
		f = float64(float32(f))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return r.fail(InvalidArgument)
	}
	return value{f: f}
}

func (r *interpreter) arithmetic(op typed.Op, a, b value, k vocab.Kind) value {
	if k.Float() {
		switch op {
		case typed.OpAdd:
			return r.finite(a.f+b.f, k)
		case typed.OpSub:
			return r.finite(a.f-b.f, k)
		case typed.OpMul:
			return r.finite(a.f*b.f, k)
		case typed.OpDiv:
			return r.finite(a.f/b.f, k)
		default:
			return r.finite(math.Mod(a.f, b.f), k)
		}
	}
	n := new(big.Int)
	switch op {
	case typed.OpAdd:
		n.Add(a.n, b.n)
	case typed.OpSub:
		n.Sub(a.n, b.n)
	case typed.OpMul:
		n.Mul(a.n, b.n)
	default:
		if b.n.Sign() == 0 {
			return r.fail(DivisionByZero)
		}
		if op == typed.OpDiv {
			n.Quo(a.n, b.n)
		} else {
			n.Rem(a.n, b.n)
		}
	}
	return r.checked(n, k)
}

func (r *interpreter) call(e *typed.Expr, args []value, k vocab.Kind, anyNull bool) value {
	switch e.Func {
	case "is_null":
		return truthValue(args[0].null)
	case "coalesce":
		for _, a := range args {
			if !a.null {
				return a
			}
		}
		return null
	case "nullif":
		if !anyNull && equalValues(args[0], args[1], k) {
			return null
		}
		return args[0]
	case "greatest", "least":
		return extreme(args, k, e.Func == "greatest")
	case "concat":
		var b strings.Builder
		for _, a := range args {
			b.WriteString(a.s)
		}
		return textValue(b.String())
	case "concat_ws":
		if args[0].null {
			return null
		}
		var parts []string
		for _, a := range args[1:] {
			if !a.null {
				parts = append(parts, a.s)
			}
		}
		return textValue(strings.Join(parts, args[0].s))
	}
	if anyNull {
		return null
	}
	switch {
	case e.Func == "leak_sensitive":
		return args[0]
	case e.Func == "clamp":
		return r.clamp(args[0], args[1], args[2], k)
	case k == vocab.String || k == vocab.Bytes:
		if v, ok := r.octetCall(e, args); ok {
			return v
		}
		return textCall(e.Func, args)
	}
	if v, ok := r.calculation(e, args, k); ok {
		return v
	}
	return r.numberCall(e, args, k)
}

func (r *interpreter) clamp(x, lo, hi value, k vocab.Kind) value {
	switch {
	case k.Float() && (lo.f != lo.f || hi.f != hi.f), above(lo, hi, k):
		return r.fail(InvalidArgument)
	case k.Float() && x.f != x.f:
		return x
	case above(lo, x, k):
		return lo
	case above(x, hi, k):
		return hi
	}
	return x
}

func above(a, b value, k vocab.Kind) bool {
	switch {
	case k.Float():
		return a.f > b.f || a.f != a.f && b.f == b.f
	case k == vocab.Bool:
		return a.b && !b.b
	case k == vocab.String:
		return a.s > b.s
	default:
		return a.n.Cmp(b.n) > 0
	}
}

func extreme(args []value, k vocab.Kind, greatest bool) value {
	best := null
	for _, a := range args {
		if !a.null && (best.null || greatest && above(a, best, k) || !greatest && above(best, a, k)) {
			best = a
		}
	}
	return best
}

func (r *interpreter) numberCall(e *typed.Expr, args []value, k vocab.Kind) value {
	x := args[0]
	switch e.Func {
	case "to_hex":
		n := new(big.Int).Set(x.n)
		if n.Sign() < 0 {
			_, high := bounds(k)
			span := new(big.Int).Lsh(new(big.Int).Add(high, big.NewInt(1)), 1)
			n.Add(n, span)
		}
		return textValue(n.Text(16))
	}
	if k.Float() {
		switch e.Func {
		case "abs":
			return r.finite(math.Abs(x.f), k)
		case "ceil":
			return r.finite(math.Ceil(x.f), k)
		case "floor":
			return r.finite(math.Floor(x.f), k)
		case "sign":
			switch {
			case x.f > 0:
				return value{f: 1}
			case x.f < 0:
				return value{f: -1}
			}
			return r.finite(x.f, k)
		default:
			d := int64(0)
			if len(args) > 1 {
				d = args[1].n.Int64()
			}
			return r.finite(roundExactly(x.f, d, map[vocab.Kind]int{vocab.F32: 32, vocab.F64: 64}[k]), k)
		}
	}
	switch e.Func {
	case "abs":
		return r.checked(new(big.Int).Abs(x.n), k)
	case "sign":
		return number64(int64(x.n.Sign()))
	case "round":
		if len(args) > 1 && args[1].n.Sign() < 0 {
			step := new(big.Int).Exp(big.NewInt(10), new(big.Int).Neg(args[1].n), nil)
			half := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).Abs(x.n), 1), step)
			half.Quo(half, new(big.Int).Lsh(step, 1)).Mul(half, step)
			if x.n.Sign() < 0 {
				half.Neg(half)
			}
			return r.checked(half, k)
		}
	}
	return x
}

// roundExactly rounds with exact fractions.
func roundExactly(x float64, d int64, size int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(d, -d)), nil))
	if d < 0 {
		power.Inv(power)
	}
	scaled := new(big.Rat).Mul(new(big.Rat).SetFloat64(math.Abs(x)), power)
	scaled.Add(scaled, big.NewRat(1, 2))
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	result, _ := strconv.ParseFloat(fmt.Sprintf("%se%d", whole, -d), size)
	return math.Copysign(result, x)
}
