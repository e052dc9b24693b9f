package expr

import (
	"math"
	"math/bits"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// binaryOp computes a op b for every row and marks the rows it fails for. Rows
// that are null or not active are computed too: nobody reads them.
type binaryOp[T number] func(out, a, b []T, bad bitmap)

var operatorNames = [...]string{typed.OpAdd: "+", typed.OpSub: "-", typed.OpMul: "*", typed.OpDiv: "/", typed.OpRem: "%"}

func (c *compiler) arithmetic(op typed.Op, kind vocab.Kind) kernel {
	switch kind {
	case vocab.U8:
		return integers(c, op, kind, unsignedOp[uint8](op))
	case vocab.U16:
		return integers(c, op, kind, unsignedOp[uint16](op))
	case vocab.U32:
		return integers(c, op, kind, unsignedOp[uint32](op))
	case vocab.U64:
		return integers(c, op, kind, unsignedOp[uint64](op))
	case vocab.I8:
		return integers(c, op, kind, signedOp[int8](op))
	case vocab.I16:
		return integers(c, op, kind, signedOp[int16](op))
	case vocab.I32:
		return integers(c, op, kind, signedOp[int32](op))
	case vocab.I64:
		return integers(c, op, kind, signedOp[int64](op))
	case vocab.F32:
		return floats(c, op, kind, floatOp[float32](op))
	case vocab.F64:
		return floats(c, op, kind, floatOp[float64](op))
	default:
		return nil
	}
}

// integers makes a kernel of an integer operation, which overflows or, where
// its divisor is zero, has no result.
func integers[T number](c *compiler, op typed.Op, kind vocab.Kind, compute binaryOp[T]) kernel {
	name := operatorNames[op]
	overflow := c.fault(Overflow, name, "the result is outside "+kind.String())
	byZero := c.fault(DivisionByZero, name, "the divisor is zero")
	divides := op == typed.OpDiv || op == typed.OpRem
	return func(f *frame, args []vec) vec {
		a, b := as[T](args[0].fixed), as[T](args[1].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		valid := f.strict(args)
		if divides {
			zero := f.scratch.bits(f.n)
			each(zero, b[:f.n], func(i int) uint64 { return bit(b[i] == 0) })
			valid = f.failing(valid, zero, byZero)
		}
		bad := f.scratch.empty(f.n)
		compute(out, a[:f.n], b[:f.n], bad)
		return vec{fixed: raw, valid: f.failing(valid, bad, overflow)}
	}
}

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}
type signed interface{ int8 | int16 | int32 | int64 }
type float interface{ float32 | float64 }

func unsignedOp[T unsigned](op typed.Op) binaryOp[T] {
	switch op {
	case typed.OpAdd:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 { out[i] = a[i] + b[i]; return bit(out[i] < a[i]) })
		}
	case typed.OpSub:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 { out[i] = a[i] - b[i]; return bit(a[i] < b[i]) })
		}
	case typed.OpMul:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 {
				high, low := bits.Mul64(uint64(a[i]), uint64(b[i]))
				out[i] = T(low)
				return bit(high != 0 || uint64(out[i]) != low)
			})
		}
	case typed.OpDiv:
		return func(out, a, b []T, _ bitmap) {
			for i := range out {
				out[i] = 0
				if b[i] != 0 {
					out[i] = a[i] / b[i]
				}
			}
		}
	default:
		return func(out, a, b []T, _ bitmap) {
			for i := range out {
				out[i] = 0
				if b[i] != 0 {
					out[i] = a[i] % b[i]
				}
			}
		}
	}
}

func signedOp[T signed](op typed.Op) binaryOp[T] {
	switch op {
	case typed.OpAdd:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 {
				out[i] = a[i] + b[i]
				return bit((a[i]^out[i])&(b[i]^out[i]) < 0)
			})
		}
	case typed.OpSub:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 {
				out[i] = a[i] - b[i]
				return bit((a[i]^b[i])&(a[i]^out[i]) < 0)
			})
		}
	case typed.OpMul:
		return func(out, a, b []T, bad bitmap) {
			each(bad, out, func(i int) uint64 {
				// The signed high word is the unsigned one less each factor where the
				// other is negative; the product fits when it repeats the sign.
				x, y := int64(a[i]), int64(b[i])
				high, low := bits.Mul64(uint64(x), uint64(y))
				sign := int64(high) - x>>63&y - y>>63&x
				out[i] = T(low)
				return bit(sign != int64(low)>>63 || int64(out[i]) != int64(low))
			})
		}
	case typed.OpDiv:
		return func(out, a, b []T, bad bitmap) {
			for i := range out {
				out[i] = 0
				if b[i] != 0 {
					out[i] = a[i] / b[i] // MIN / -1 wraps to MIN
				}
				if b[i] == -1 && a[i] == out[i] && a[i] != 0 {
					bad.set(i)
				}
			}
		}
	default:
		return func(out, a, b []T, _ bitmap) {
			for i := range out {
				out[i] = 0
				if b[i] != 0 {
					out[i] = a[i] % b[i] // MIN % -1 is 0
				}
			}
		}
	}
}

// floats makes a kernel of a float operation, which fails where the result is
// not finite.
func floats[T float](c *compiler, op typed.Op, kind vocab.Kind, compute func(out, a, b []T)) kernel {
	fault := c.fault(InvalidArgument, operatorNames[op], "the result is no finite "+kind.String())
	return func(f *frame, args []vec) vec {
		out, raw := fixed[T](f.scratch, f.n)
		compute(out, as[T](args[0].fixed)[:f.n], as[T](args[1].fixed)[:f.n])
		return vec{fixed: raw, valid: f.failing(f.strict(args), f.nonFinite(raw, kind), fault)}
	}
}

// nonFinite returns the rows that hold a NaN or an infinity.
func (f *frame) nonFinite(raw []byte, kind vocab.Kind) bitmap {
	out := f.scratch.bits(f.n)
	if kind == vocab.F32 {
		x := as[uint32](raw)
		each(out, x[:f.n], func(i int) uint64 { return bit(x[i]>>23&0xff == 0xff) })
	} else {
		x := as[uint64](raw)
		each(out, x[:f.n], func(i int) uint64 { return bit(x[i]>>52&0x7ff == 0x7ff) })
	}
	return out
}

func floatOp[T float](op typed.Op) func(out, a, b []T) {
	switch op {
	case typed.OpAdd:
		return func(out, a, b []T) {
			for i := range out {
				out[i] = a[i] + b[i]
			}
		}
	case typed.OpSub:
		return func(out, a, b []T) {
			for i := range out {
				out[i] = a[i] - b[i]
			}
		}
	case typed.OpMul:
		return func(out, a, b []T) {
			for i := range out {
				out[i] = a[i] * b[i]
			}
		}
	case typed.OpDiv:
		return func(out, a, b []T) {
			for i := range out {
				out[i] = a[i] / b[i]
			}
		}
	default:
		return func(out, a, b []T) {
			for i := range out {
				// The remainder is exact, so that of two F32 is an F32.
				out[i] = T(math.Mod(float64(a[i]), float64(b[i])))
			}
		}
	}
}

func (c *compiler) negation(kind vocab.Kind) kernel {
	switch kind {
	case vocab.I8:
		return negateSigned[int8](c, kind)
	case vocab.I16:
		return negateSigned[int16](c, kind)
	case vocab.I32:
		return negateSigned[int32](c, kind)
	case vocab.I64:
		return negateSigned[int64](c, kind)
	case vocab.F32:
		return func(f *frame, args []vec) vec { return flipSign[uint32](f, args[0], 1<<31) }
	case vocab.F64:
		return func(f *frame, args []vec) vec { return flipSign[uint64](f, args[0], 1<<63) }
	default:
		return nil
	}
}

func negateSigned[T signed](c *compiler, kind vocab.Kind) kernel {
	fault := c.fault(Overflow, "-", "the result is outside "+kind.String())
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		bad := f.scratch.bits(f.n)
		each(bad, out, func(i int) uint64 {
			out[i] = -a[i]
			return bit(out[i] == a[i] && a[i] != 0)
		})
		return vec{fixed: raw, valid: f.failing(args[0].valid, bad, fault)}
	}
}

// flipSign negates floats without ever failing: a NaN stays one.
func flipSign[T uint32 | uint64](f *frame, v vec, sign T) vec {
	a := as[T](v.fixed)
	out, raw := fixed[T](f.scratch, f.n)
	for i := range out {
		out[i] = a[i] ^ sign
	}
	return vec{fixed: raw, valid: v.valid}
}
