package expr

import (
	"bytes"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// comparison returns the kernel of = != < <= > >= over one kind. It takes a
// scalar on either side.
func comparison(op typed.Op, kind vocab.Kind) kernel {
	switch kind {
	case vocab.U8:
		return compareFixed[uint8](op)
	case vocab.U16:
		return compareFixed[uint16](op)
	case vocab.U32:
		return compareFixed[uint32](op)
	case vocab.U64:
		return compareFixed[uint64](op)
	case vocab.I8:
		return compareFixed[int8](op)
	case vocab.I16:
		return compareFixed[int16](op)
	case vocab.I32:
		return compareFixed[int32](op)
	case vocab.I64, vocab.Datetime:
		return compareFixed[int64](op)
	case vocab.F32:
		return compareFixed[float32](op)
	case vocab.F64:
		return compareFixed[float64](op)
	case vocab.Bool:
		return compareBool(op)
	case vocab.String, vocab.Bytes:
		return compareText(op)
	default:
		return nil
	}
}

// mirrored is the comparison with its sides exchanged.
var mirrored = map[typed.Op]typed.Op{
	typed.OpEq: typed.OpEq, typed.OpNe: typed.OpNe,
	typed.OpLt: typed.OpGt, typed.OpLe: typed.OpGe,
	typed.OpGt: typed.OpLt, typed.OpGe: typed.OpLe,
}

func compareFixed[T number](op typed.Op) kernel {
	columns, withScalar, scalarFirst := loopColumns[T](op), loopScalar[T](op), loopScalar[T](mirrored[op])
	return func(f *frame, args []vec) vec {
		a, b := as[T](args[0].fixed), as[T](args[1].fixed)
		out := f.scratch.bits(f.n)
		switch {
		case f.n == 0:
		case args[1].scalar && f.n > 1:
			withScalar(out, a[:f.n], b[0])
		case args[0].scalar && f.n > 1:
			scalarFirst(out, b[:f.n], a[0])
		default:
			columns(out, a[:f.n], b[:f.n])
		}
		return vec{bits: out, valid: f.strict(args)}
	}
}

// bit is 1 for true; the compiler makes it a flag, not a branch.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func loopColumns[T number](op typed.Op) func(out bitmap, a, b []T) {
	switch op {
	case typed.OpEq:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] == b[i]) })
		}
	case typed.OpNe:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] != b[i]) })
		}
	case typed.OpLt:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] < b[i]) })
		}
	case typed.OpLe:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] <= b[i]) })
		}
	case typed.OpGt:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] > b[i]) })
		}
	default:
		return func(out bitmap, a, b []T) {
			each(out, a, func(i int) uint64 { return bit(a[i] >= b[i]) })
		}
	}
}

func loopScalar[T number](op typed.Op) func(out bitmap, a []T, b T) {
	switch op {
	case typed.OpEq:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] == b) })
		}
	case typed.OpNe:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] != b) })
		}
	case typed.OpLt:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] < b) })
		}
	case typed.OpLe:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] <= b) })
		}
	case typed.OpGt:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] > b) })
		}
	default:
		return func(out bitmap, a []T, b T) {
			each(out, a, func(i int) uint64 { return bit(a[i] >= b) })
		}
	}
}

// each sets out to the bits of a test over all rows of a. It is small enough to
// be inlined together with its test.
func each[T any](out bitmap, a []T, test func(i int) uint64) {
	for w := range out {
		var bits uint64
		first := w * 64
		last := min(first+64, len(a))
		for i := first; i < last; i++ {
			bits |= test(i) << (i & 63)
		}
		out[w] = bits
	}
}

func compareBool(op typed.Op) kernel {
	return func(f *frame, args []vec) vec {
		a, b := f.scratch.expand(args[0], f.n), f.scratch.expand(args[1], f.n)
		out := f.scratch.bits(f.n)
		for i := range out {
			out[i] = a.bits[i] ^ b.bits[i]
			if op == typed.OpEq {
				out[i] = ^out[i]
			}
		}
		if len(out) > 0 {
			out[len(out)-1] &= tail(f.n)
		}
		return vec{bits: out, valid: f.strict(args)}
	}
}

func compareText(op typed.Op) kernel {
	test := textTest(op)
	return func(f *frame, args []vec) vec {
		a, b := &args[0], &args[1]
		out := f.scratch.empty(f.n)
		for i := range f.n {
			if test(a.text(i), b.text(i)) {
				out.set(i)
			}
		}
		return vec{bits: out, valid: f.strict(args)}
	}
}

func textTest(op typed.Op) func(a, b []byte) bool {
	switch op {
	case typed.OpEq:
		return bytes.Equal
	case typed.OpNe:
		return func(a, b []byte) bool { return !bytes.Equal(a, b) }
	case typed.OpLt:
		return func(a, b []byte) bool { return bytes.Compare(a, b) < 0 }
	case typed.OpLe:
		return func(a, b []byte) bool { return bytes.Compare(a, b) <= 0 }
	case typed.OpGt:
		return func(a, b []byte) bool { return bytes.Compare(a, b) > 0 }
	default:
		return func(a, b []byte) bool { return bytes.Compare(a, b) >= 0 }
	}
}

// distinct is equality in which two nulls are equal and one is not.
func distinct(equal kernel, negate bool) kernel {
	if equal == nil {
		return nil
	}
	return func(f *frame, args []vec) vec {
		out := equal(f, args).bits
		a, b := &args[0], &args[1]
		for i := range out {
			av, bv := validWord(a, i, f.n), validWord(b, i, f.n)
			same := out[i]&av&bv | ^(av | bv)
			if negate {
				same = ^same
			}
			out[i] = same
		}
		if len(out) > 0 {
			out[len(out)-1] &= tail(f.n)
		}
		return vec{bits: out}
	}
}

// between is x >= lo AND x <= hi.
func between(kind vocab.Kind, negate bool) kernel {
	atLeast, atMost := comparison(typed.OpGe, kind), comparison(typed.OpLe, kind)
	if atLeast == nil {
		return nil
	}
	return func(f *frame, args []vec) vec {
		x, lo, hi := args[0], args[1], args[2]
		out := and(f, []vec{atLeast(f, []vec{x, lo}), atMost(f, []vec{x, hi})})
		if negate {
			out = not(f, []vec{out})
		}
		return out
	}
}
