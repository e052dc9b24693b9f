package expr

import (
	"math"

	"plexus/nspl/vocab"
)

func (c *compiler) absolute(kind vocab.Kind) kernel {
	switch kind {
	case vocab.I8:
		return absoluteSigned[int8](c, kind)
	case vocab.I16:
		return absoluteSigned[int16](c, kind)
	case vocab.I32:
		return absoluteSigned[int32](c, kind)
	case vocab.I64:
		return absoluteSigned[int64](c, kind)
	case vocab.F32, vocab.F64:
		return c.mapFloat("abs", kind, math.Abs)
	default:
		return identity // unsigned
	}
}

func identity(_ *frame, args []vec) vec { return args[0] }

func absoluteSigned[T signed](c *compiler, kind vocab.Kind) kernel {
	fault := c.fault(Overflow, "abs", "the result is outside "+kind.String())
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		bad := f.scratch.bits(f.n)
		each(bad, out, func(i int) uint64 {
			out[i] = a[i]
			if a[i] < 0 {
				out[i] = -a[i]
			}
			return bit(out[i] < 0)
		})
		return vec{fixed: raw, valid: f.failing(args[0].valid, bad, fault)}
	}
}

// mapFloat makes the kernel of a function on floats whose result must be finite.
// For F32 the function's exact result is an F32 too.
func (c *compiler) mapFloat(name string, kind vocab.Kind, image func(float64) float64) kernel {
	fault := c.fault(InvalidArgument, name, "the result is no finite "+kind.String())
	if kind == vocab.F32 {
		return func(f *frame, args []vec) vec { return mapFloats[float32](f, args, kind, fault, image) }
	}
	return func(f *frame, args []vec) vec { return mapFloats[float64](f, args, kind, fault, image) }
}

func mapFloats[T float](f *frame, args []vec, kind vocab.Kind, fault *Fault, image func(float64) float64) vec {
	a := as[T](args[0].fixed)
	out, raw := fixed[T](f.scratch, f.n)
	for i := range out {
		out[i] = T(image(float64(a[i])))
	}
	return vec{fixed: raw, valid: f.failing(args[0].valid, f.nonFinite(raw, kind), fault)}
}

// whole makes the kernel of ceil, floor, trunc and round: integers are whole.
func (c *compiler) whole(name string, kind vocab.Kind, image func(float64) float64) kernel {
	if kind.Integer() {
		return identity
	}
	return c.mapFloat(name, kind, image)
}

func (c *compiler) sign(kind vocab.Kind) kernel {
	switch kind {
	case vocab.U8:
		return signOf[uint8]
	case vocab.U16:
		return signOf[uint16]
	case vocab.U32:
		return signOf[uint32]
	case vocab.U64:
		return signOf[uint64]
	case vocab.I8:
		return signOf[int8]
	case vocab.I16:
		return signOf[int16]
	case vocab.I32:
		return signOf[int32]
	case vocab.I64:
		return signOf[int64]
	default:
		return c.mapFloat("sign", kind, floatSign)
	}
}

func signOf[T unsigned | signed](f *frame, args []vec) vec {
	a := as[T](args[0].fixed)
	out, raw := fixed[T](f.scratch, f.n)
	for i := range out {
		out[i] = T(bit(a[i] > 0))
		if a[i] < 0 {
			out[i]-- // only of a signed type
		}
	}
	return vec{fixed: raw, valid: args[0].valid}
}

// floatSign keeps zeros, with their sign, and NaN, which then fails.
func floatSign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	default:
		return x
	}
}

// roundTo makes the kernel of round(x, d), whose d may be of any integer type.
func (c *compiler) roundTo(kind vocab.Kind) kernel {
	overflow := c.fault(Overflow, "round", "the result is outside "+kind.String())
	infinite := c.fault(InvalidArgument, "round", "the result is no finite "+kind.String())
	switch kind {
	case vocab.F32:
		return roundFloats[float32](32, kind, infinite)
	case vocab.F64:
		return roundFloats[float64](64, kind, infinite)
	case vocab.U8:
		return roundIntegers[uint8](overflow)
	case vocab.U16:
		return roundIntegers[uint16](overflow)
	case vocab.U32:
		return roundIntegers[uint32](overflow)
	case vocab.U64:
		return roundIntegers[uint64](overflow)
	case vocab.I8:
		return roundIntegers[int8](overflow)
	case vocab.I16:
		return roundIntegers[int16](overflow)
	case vocab.I32:
		return roundIntegers[int32](overflow)
	default:
		return roundIntegers[int64](overflow)
	}
}

func roundIntegers[T unsigned | signed](fault *Fault) kernel {
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		bad := f.scratch.empty(f.n)
		for i := range out {
			negative := a[i] < 0
			size := uint64(a[i])
			if negative {
				size = -size
			}
			size, ok := roundMagnitude(size, args[1].integer(i))
			out[i] = T(size)
			if negative {
				out[i] = T(-size)
			}
			// The value came back when widening it again gives the same number.
			back := uint64(out[i])
			if negative {
				back = -back
			}
			if !ok || back != size || size != 0 && (out[i] < 0) != negative {
				bad.set(i)
			}
		}
		return vec{fixed: raw, valid: f.failing(f.strict(args), bad, fault)}
	}
}

// roundMagnitude rounds to a multiple of 10^-d, halves away from zero.
func roundMagnitude(x uint64, d int64) (uint64, bool) {
	switch {
	case d >= 0:
		return x, true
	case d <= -20: // half of 10^20 is beyond every value
		return 0, true
	}
	step := uint64(1)
	for range -d {
		step *= 10
	}
	rest := x % step
	down := x - rest
	if rest < step-rest {
		return down, true
	}
	return down + step, down+step > down
}

func roundFloats[T float](size int, kind vocab.Kind, fault *Fault) kernel {
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		valid := f.strict(args)
		todo := f.todo(valid)
		for i := range out {
			out[i] = 0
			if todo == nil || todo.has(i) {
				out[i] = T(roundFloat(float64(a[i]), args[1].integer(i), size))
			}
		}
		return vec{fixed: raw, valid: f.failing(valid, f.nonFinite(raw, kind), fault)}
	}
}
