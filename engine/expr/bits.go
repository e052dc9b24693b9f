package expr

import (
	"math/bits"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// bitwise binds an operation on the bits of two integers of one type, word by word:
// the lanes of a word do not touch each other.
func bitwise(op func(a, b uint64) uint64) binder {
	return fixedKernel(func(f *frame, args []vec) vec {
		raw := f.scratch.bytes(f.n * batch.Width(args[0].kind))
		a, b := args[0].fixed, args[1].fixed
		out := words(raw)
		whole := len(raw) / 8
		if whole > 0 {
			x, y := as[uint64](a[:whole*8]), as[uint64](b[:whole*8])
			for i := range whole {
				out[i] = op(x[i], y[i])
			}
		}
		for i := whole * 8; i < len(raw); i++ {
			raw[i] = byte(op(uint64(a[i]), uint64(b[i])))
		}
		return vec{fixed: raw, valid: f.strict(args)}
	})
}

// words is the whole words of a column's memory.
func words(raw []byte) []uint64 { return as[uint64](raw[:len(raw)&^7]) }

func bitwiseNot(f *frame, args []vec) vec {
	raw := f.scratch.bytes(len(args[0].fixed))
	for i, b := range args[0].fixed {
		raw[i] = ^b
	}
	return vec{fixed: raw, valid: args[0].valid}
}

// bitCount counts the set bits of an integer in two's complement at its width.
func bitCount(f *frame, args []vec) vec {
	a := &args[0]
	mask := widthMask(a.kind)
	out, raw := fixed[int64](f.scratch, f.n)
	for i := range out {
		out[i] = int64(bits.OnesCount64(a.pattern(i) & mask))
	}
	return vec{fixed: raw, valid: a.valid}
}

// widthMask has the bits that an integer of a kind has.
func widthMask(kind vocab.Kind) uint64 { return uint64(1)<<(8*batch.Width(kind)-1)<<1 - 1 }

// shift makes the kernels of shift_left and shift_right, whose count may be of any
// integer type.
func (c *compiler) shift(e *typed.Expr) kernel {
	left := e.Func == "shift_left"
	switch e.Type.Kind {
	case vocab.U8:
		return shiftIntegers[uint8](c, e, left)
	case vocab.U16:
		return shiftIntegers[uint16](c, e, left)
	case vocab.U32:
		return shiftIntegers[uint32](c, e, left)
	case vocab.U64:
		return shiftIntegers[uint64](c, e, left)
	case vocab.I8:
		return shiftIntegers[int8](c, e, left)
	case vocab.I16:
		return shiftIntegers[int16](c, e, left)
	case vocab.I32:
		return shiftIntegers[int32](c, e, left)
	default:
		return shiftIntegers[int64](c, e, left)
	}
}

func shiftIntegers[T unsigned | signed](c *compiler, e *typed.Expr, left bool) kernel {
	negative := c.fault(InvalidArgument, e.Func, "the count is negative")
	overflow := c.fault(Overflow, e.Func, "the result is outside "+e.Type.Kind.String())
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)
		out, raw := fixed[T](f.scratch, f.n)
		below, over := f.scratch.empty(f.n), f.scratch.empty(f.n)
		valid := f.strict(args)
		for i := range out {
			n := args[1].integer(i)
			switch {
			case n < 0:
				out[i] = 0
				below.set(i)
			case !left:
				out[i] = a[i] >> min(n, 64) // keeps the sign
			default:
				// Go shifts by any count; what comes back shows whether bits were lost.
				out[i] = a[i] << min(n, 64)
				if out[i]>>min(n, 64) != a[i] {
					over.set(i)
				}
			}
		}
		return vec{fixed: raw, valid: f.failing(f.failing(valid, below, negative), over, overflow)}
	}
}
