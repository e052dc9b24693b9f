package expr

import (
	"math"

	"plexus/engine/elementary"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// f64 reads row i of a numeric column as the nearest float64.
func (v *vec) f64(i int) float64 {
	i = v.at(i)
	switch v.kind {
	case vocab.F64:
		return as[float64](v.fixed)[i]
	case vocab.F32:
		return float64(as[float32](v.fixed)[i])
	case vocab.U64:
		return float64(as[uint64](v.fixed)[i])
	default:
		return float64(v.integer(i))
	}
}

// real binds a function of one number of any type whose result is a finite F64.
func real(image func(float64) float64) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel {
		return c.reals(e.Func, func(args []vec, i int) float64 { return image(args[0].f64(i)) })
	})
}

// real2 binds a function of two numbers, whose types may differ.
func real2(image func(x, y float64) float64) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel {
		return c.reals(e.Func, func(args []vec, i int) float64 { return image(args[0].f64(i), args[1].f64(i)) })
	})
}

// reals makes a kernel that computes an F64 for each row and fails where it is not
// finite.
func (c *compiler) reals(name string, image func(args []vec, i int) float64) kernel {
	fault := c.fault(InvalidArgument, name, "the result is no finite F64")
	return func(f *frame, args []vec) vec {
		out, raw := fixed[float64](f.scratch, f.n)
		valid := f.strict(args)
		todo := f.todo(valid)
		for i := range out {
			out[i] = 0
			if todo == nil || todo.has(i) {
				out[i] = image(args, i)
			}
		}
		return vec{fixed: raw, valid: f.failing(valid, f.nonFinite(raw, vocab.F64), fault)}
	}
}

// logarithm is log(x) to base 10, or log(base, x).
func (c *compiler) logarithm(e *typed.Expr) kernel {
	if len(e.Args) == 1 {
		return c.reals(e.Func, func(args []vec, i int) float64 { return elementary.Log10(args[0].f64(i)) })
	}
	return c.reals(e.Func, func(args []vec, i int) float64 { return logTo(args[0].f64(i), args[1].f64(i)) })
}

// logTo is exact for powers of the bases 2 and 10.
func logTo(base, x float64) float64 {
	switch base {
	case 2:
		return elementary.Log2(x)
	case 10:
		return elementary.Log10(x)
	}
	return elementary.Log(x) / elementary.Log(base)
}

func degrees(x float64) float64 { return x * (180 / math.Pi) }
func radians(x float64) float64 { return x * (math.Pi / 180) }

// classified binds a predicate on floats, which never fails.
func classified(test func(float64) bool) binder {
	return fixedKernel(func(f *frame, args []vec) vec {
		out := f.scratch.empty(f.n)
		for i := range f.n {
			if test(args[0].f64(i)) {
				out.set(i)
			}
		}
		return vec{bits: f.scratch.both(out, args[0].valid), valid: args[0].valid}
	})
}

func isFinite(x float64) bool   { return !math.IsNaN(x) && !math.IsInf(x, 0) }
func isInfinite(x float64) bool { return math.IsInf(x, 0) }
