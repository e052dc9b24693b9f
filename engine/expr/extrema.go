package expr

import (
	"bytes"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// order returns a test whether row i of b beats row i of a: it is greater, or
// less. NaN is above everything and zeros are equal.
func order(kind vocab.Kind, greatest bool) func(a, b *vec, i int) bool {
	switch kind {
	case vocab.U8:
		return orderFixed[uint8](greatest)
	case vocab.U16:
		return orderFixed[uint16](greatest)
	case vocab.U32:
		return orderFixed[uint32](greatest)
	case vocab.U64:
		return orderFixed[uint64](greatest)
	case vocab.I8:
		return orderFixed[int8](greatest)
	case vocab.I16:
		return orderFixed[int16](greatest)
	case vocab.I32:
		return orderFixed[int32](greatest)
	case vocab.I64, vocab.Datetime:
		return orderFixed[int64](greatest)
	case vocab.F32:
		return orderFixed[float32](greatest)
	case vocab.F64:
		return orderFixed[float64](greatest)
	case vocab.Bool:
		return func(a, b *vec, i int) bool {
			x, y := a.bits.has(a.at(i)), b.bits.has(b.at(i))
			return x != y && y == greatest
		}
	case vocab.String, vocab.Bytes:
		return func(a, b *vec, i int) bool {
			c := bytes.Compare(b.text(i), a.text(i))
			return greatest && c > 0 || !greatest && c < 0
		}
	default:
		return nil
	}
}

func orderFixed[T number](greatest bool) func(a, b *vec, i int) bool {
	above := func(x, y T) bool { return x > y || x != x && y == y }
	return func(a, b *vec, i int) bool {
		x, y := as[T](a.fixed)[a.at(i)], as[T](b.fixed)[b.at(i)]
		if greatest {
			return above(y, x)
		}
		return above(x, y)
	}
}

// extremum makes the kernel of greatest and least: nulls are skipped and the
// earliest of equals is taken.
func (c *compiler) extremum(e *typed.Expr, greatest bool) kernel {
	beats := order(e.Type.Kind, greatest)
	if beats == nil {
		return nil
	}
	return c.choose(e, func(args []vec, i int) int16 {
		best := int16(choiceNull)
		for k := range args {
			if !args[k].null(i) && (best < 0 || beats(&args[best], &args[k], i)) {
				best = int16(k)
			}
		}
		return best
	})
}

// coalesce makes the kernel that takes the first operand that is present.
func (c *compiler) coalesce(e *typed.Expr) kernel {
	return c.choose(e, func(args []vec, i int) int16 {
		for k := range args {
			if !args[k].null(i) {
				return int16(k)
			}
		}
		return choiceNull
	})
}

// choose makes a kernel that takes, for each row, the value of one operand.
func (c *compiler) choose(e *typed.Expr, pick func(args []vec, i int) int16) kernel {
	fault, t := c.columnFull(e.Func), listType(e.Type)
	return func(f *frame, args []vec) vec {
		choice := f.choices()
		for i := range choice {
			choice[i] = pick(args, i)
		}
		return f.merge(e.Type.Kind, t, args, choice, fault)
	}
}

// nullif is its first operand, null where both are equal.
func nullif(kind vocab.Kind) kernel {
	equal := comparison(typed.OpEq, kind)
	if equal == nil {
		return nil
	}
	return func(f *frame, args []vec) vec {
		same := equal(f, args)
		out := args[0]
		out.source = nil
		out.valid = f.scratch.without(f.n, out.valid, f.scratch.both(same.bits, f.strict(args)))
		return out
	}
}

// clamp makes the kernel of clamp(x, lo, hi). A NaN x stays.
func (c *compiler) clamp(e *typed.Expr) kernel {
	kind := e.Type.Kind
	crossed := c.fault(InvalidArgument, "clamp", "the lower bound is above the upper or a bound is NaN")
	full := c.columnFull("clamp")
	less, ordered := comparison(typed.OpLt, kind), comparison(typed.OpLe, kind)
	if less == nil {
		return nil
	}
	return func(f *frame, args []vec) vec {
		x, lo, hi := args[0], args[1], args[2]
		// lo <= hi is false for NaN as well.
		bad := f.scratch.without(f.n, nil, ordered(f, []vec{lo, hi}).bits)
		valid := f.failing(f.strict(args), bad, crossed)
		below, above := less(f, []vec{x, lo}).bits, less(f, []vec{hi, x}).bits
		choice := f.choices()
		for i := range choice {
			switch {
			case valid != nil && !valid.has(i):
				choice[i] = choiceNull
			case below.has(i):
				choice[i] = 1
			case above.has(i):
				choice[i] = 2
			default:
				choice[i] = 0
			}
		}
		return f.merge(kind, nil, args, choice, full)
	}
}
