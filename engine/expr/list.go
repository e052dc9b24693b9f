package expr

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// elements are the lists of a column and the values in them, side by side.
type elements struct {
	lists  array.ListLike // nil where every list is null
	rows   []int32
	scalar bool
	of     vec // every element of the lists' column
}

// elements opens a column of lists. The elements are read where they lie.
func (f *frame) elements(v *vec, kind vocab.Kind) elements {
	e := elements{rows: v.rows, scalar: v.scalar}
	if v.list == nil {
		return e
	}
	e.lists = v.list.(array.ListLike)
	e.of = f.load(&column{array: e.lists.ListValues(), aligned: true}, kind)
	e.of.kind, e.of.source = kind, nil
	return e
}

// span returns where the elements of row i are; of a null list there are none.
func (e *elements) span(i int) (lo, hi int) {
	if e.scalar {
		i = 0
	}
	if e.lists == nil || e.rows[i] < 0 || e.lists.IsNull(int(e.rows[i])) {
		return 0, 0
	}
	from, to := e.lists.ValueOffsets(int(e.rows[i]))
	return int(from), int(to)
}

func elementKind(e *typed.Expr) vocab.Kind { return e.Args[0].Type.Elem.Kind }

// count is the length of each list.
func (c *compiler) listCount(e *typed.Expr) kernel {
	kind := elementKind(e)
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], kind)
		out, raw := fixed[int64](f.scratch, f.n)
		for i := range out {
			lo, hi := lists.span(i)
			out[i] = int64(hi - lo)
		}
		return vec{fixed: raw, valid: args[0].valid}
	}
}

// listFolds computes one number of each list; an empty one has none.
func (c *compiler) listFold(e *typed.Expr, fold func(x *vec, lo, hi int, to []byte, i int) outcome, faults ...*Fault) kernel {
	kind, width := elementKind(e), batch.Width(e.Type.Kind)
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], kind)
		raw := f.scratch.bytes(f.n * width)
		clear(raw)
		v := f.verdicts(args[0].valid, faults)
		todo := f.todo(v.valid)
		for i := range f.n {
			if todo != nil && !todo.has(i) {
				continue
			}
			lo, hi := lists.span(i)
			if lo == hi {
				v.note(i, absent)
				continue
			}
			v.note(i, fold(&lists.of, lo, hi, raw, i))
		}
		return vec{fixed: raw, valid: v.close()}
	}
}

// listSum adds whole numbers exactly, and floats in order; those of F32 in F64.
func (c *compiler) listSum(e *typed.Expr) kernel {
	kind := e.Type.Kind
	if kind.Float() {
		return c.listFold(e, func(x *vec, lo, hi int, to []byte, i int) outcome {
			return storeFloat(to, kind, i, sumFloats(x, lo, hi))
		}, c.fault(InvalidArgument, e.Func, "the result is no finite "+kind.String()))
	}
	return c.listFold(e, func(x *vec, lo, hi int, to []byte, i int) outcome {
		var t total
		for k := lo; k < hi; k++ {
			t.add(x.pattern(k), kind)
		}
		return t.store(to, kind, i)
	}, c.outside(e))
}

func sumFloats(x *vec, lo, hi int) float64 {
	sum := 0.0
	for k := lo; k < hi; k++ {
		sum += x.f64(k)
	}
	return sum
}

func storeFloat(to []byte, kind vocab.Kind, i int, x float64) outcome {
	if kind == vocab.F32 {
		as[float32](to)[i] = float32(x)
		x = float64(float32(x))
	} else {
		as[float64](to)[i] = x
	}
	if !isFinite(x) {
		return refused
	}
	return present
}

// total is an exact sum of whole numbers, 128 bits in two's complement.
type total struct{ high, low uint64 }

// add adds a number given by its sign-extended bits.
func (t *total) add(pattern uint64, kind vocab.Kind) {
	var carry, sign uint64
	if kind.Signed() {
		sign = uint64(int64(pattern) >> 63)
	}
	t.low, carry = bits.Add64(t.low, pattern, 0)
	t.high, _ = bits.Add64(t.high, sign, carry)
}

// addProduct adds the product of two numbers given by their sign-extended bits.
func (t *total) addProduct(a, b uint64, kind vocab.Kind) {
	high, low := bits.Mul64(a, b)
	if kind.Signed() { // the unsigned product counts each negative factor as 2^64 more
		high -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	}
	var carry uint64
	t.low, carry = bits.Add64(t.low, low, 0)
	t.high, _ = bits.Add64(t.high, high, carry)
}

// store writes the sum as row i; it is refused where it does not fit.
func (t *total) store(to []byte, kind vocab.Kind, i int) outcome {
	width := batch.Width(kind)
	var fits bool
	if kind.Signed() {
		shift := 64 - 8*width
		fits = t.high == uint64(int64(t.low)>>63) && int64(t.low)<<shift>>shift == int64(t.low)
	} else {
		fits = t.high == 0 && t.low&widthMask(kind) == t.low
	}
	for k := range width {
		to[i*width+k] = byte(t.low >> (8 * k))
	}
	if !fits {
		return refused
	}
	return present
}

func (c *compiler) listMean(e *typed.Expr) kernel {
	return c.listFold(e, func(x *vec, lo, hi int, to []byte, i int) outcome {
		return storeFloat(to, vocab.F64, i, sumFloats(x, lo, hi)/float64(hi-lo))
	}, c.fault(InvalidArgument, e.Func, "the result is no finite F64"))
}

// listPick makes a kernel whose result is one element of each list. at returns which,
// or a negative position for none.
func (c *compiler) listPick(e *typed.Expr, at func(x *vec, lo, hi int, args []vec, i int) int) kernel {
	kind := e.Type.Kind
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], kind)
		valid := f.strict(args)
		picked := f.scratch.int32s(f.n)
		v := f.verdicts(valid, nil)
		for i := range f.n {
			picked[i] = 0
			if valid != nil && !valid.has(i) {
				continue
			}
			lo, hi := lists.span(i)
			k := -1
			if lo < hi {
				k = at(&lists.of, lo, hi, args, i)
			}
			if k < 0 {
				v.note(i, absent)
				continue
			}
			picked[i] = int32(k)
		}
		out := f.takeElements(&lists.of, kind, picked)
		out.valid = v.close()
		return out
	}
}

// takeElements makes a column of the elements at the given positions. Where a row is
// null its position does not count.
func (f *frame) takeElements(x *vec, kind vocab.Kind, at []int32) vec {
	s := f.scratch
	out := vec{kind: kind}
	switch {
	case kind == vocab.Bool:
		out.bits = s.empty(f.n)
		for i, k := range at {
			if len(x.bits) > 0 && x.bits.has(int(k)) {
				out.bits.set(i)
			}
		}
	case kind == vocab.String || kind == vocab.Bytes:
		out.data, out.lo, out.hi = x.data, s.int32s(f.n), s.int32s(f.n)
		for i, k := range at {
			out.lo[i], out.hi[i] = 0, 0
			if len(x.lo) > 0 {
				out.lo[i], out.hi[i] = x.lo[k], x.hi[k]
			}
		}
	default:
		out.fixed = s.bytes(f.n * batch.Width(kind))
		if len(x.fixed) > 0 {
			takeFixed(out.fixed, x.fixed, batch.Width(kind), at)
		}
	}
	return out
}

func firstOf(_ *vec, lo, _ int, _ []vec, _ int) int { return lo }
func lastOf(_ *vec, _, hi int, _ []vec, _ int) int  { return hi - 1 }

// nthOf counts from 0.
func nthOf(_ *vec, lo, hi int, args []vec, i int) int {
	n := args[1].integer(i)
	if n < 0 || n >= int64(hi-lo) {
		return -1
	}
	return lo + int(n)
}

// extremeOf finds the earliest of the greatest or least elements.
func extremeOf(greatest bool) func(x *vec, lo, hi int, _ []vec, _ int) int {
	return func(x *vec, lo, hi int, _ []vec, _ int) int {
		best := lo
		for k := lo + 1; k < hi; k++ {
			if order := x.compareTotal(k, best); order > 0 && greatest || order < 0 && !greatest {
				best = k
			}
		}
		return best
	}
}

// compareTotal orders two rows of a column; floats in the total order of IEEE 754.
func (v *vec) compareTotal(a, b int) int {
	switch v.kind {
	case vocab.F32, vocab.F64:
		return compareInts(totalOrder(v.f64(a)), totalOrder(v.f64(b)))
	case vocab.Bool:
		return int(boolBit(v.bits.has(a))) - int(boolBit(v.bits.has(b)))
	case vocab.String, vocab.Bytes:
		return compareBytes(v.text(a), v.text(b))
	case vocab.U64:
		x, y := as[uint64](v.fixed)[a], as[uint64](v.fixed)[b]
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return compareInts(v.integer(a), v.integer(b))
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// totalOrder maps a float to an integer of the same order: negative NaNs, numbers
// with -0 below 0, NaNs.
func totalOrder(x float64) int64 {
	n := int64(math.Float64bits(x))
	if n < 0 {
		n = math.MinInt64 - n - 1
	}
	return n
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
