package expr

import (
	"bytes"
	"math"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

func compareBytes(a, b []byte) int { return bytes.Compare(a, b) }

// equalRows compares row a of one column with row b of another of the same kind as
// the operator = does.
func equalRows(x *vec, a int, y *vec, b int) bool {
	switch {
	case x.kind.Float():
		return x.f64(a) == y.f64(b)
	case x.kind == vocab.Bool:
		return x.bits.has(a) == y.bits.has(b)
	case x.kind == vocab.String || x.kind == vocab.Bytes:
		return bytes.Equal(x.text(a), y.text(b))
	}
	return x.pattern(a) == y.pattern(b)
}

// listContains reports whether a list holds a value.
func (c *compiler) listContains(e *typed.Expr) kernel {
	kind := elementKind(e)
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], kind)
		value := args[1]
		value.kind = kind
		return checkedBools(func(args []vec, i int) (bool, outcome) {
			lo, hi := lists.span(i)
			for k := lo; k < hi; k++ {
				if equalRows(&lists.of, k, &value, value.at(i)) {
					return true, present
				}
			}
			return false, present
		})(f, args)
	}
}

// pairwiseMax is how many comparisons of two lists are cheaper than a set.
const pairwiseMax = 256

// overlap reports whether two lists share an element.
func (c *compiler) overlap(e *typed.Expr) kernel {
	kind := elementKind(e)
	return func(f *frame, args []vec) vec {
		a, b := f.elements(&args[0], kind), f.elements(&args[1], kind)
		return checkedBools(func(_ []vec, i int) (bool, outcome) {
			lo, hi := a.span(i)
			from, to := b.span(i)
			if (hi-lo)*(to-from) > pairwiseMax {
				return shareAny(&a.of, lo, hi, &b.of, from, to), present
			}
			for k := lo; k < hi; k++ {
				for m := from; m < to; m++ {
					if equalRows(&a.of, k, &b.of, m) {
						return true, present
					}
				}
			}
			return false, present
		})(f, args)
	}
}

// shareAny is overlap over long lists.
func shareAny(x *vec, lo, hi int, y *vec, from, to int) bool {
	known := make(map[string]bool, hi-lo)
	var key []byte
	for k := lo; k < hi; k++ {
		key = appendKey(key[:0], x, k)
		known[string(key)] = true
	}
	for m := from; m < to; m++ {
		if key = appendKey(key[:0], y, m); known[string(key)] && !(y.kind.Float() && math.IsNaN(y.f64(m))) {
			return true
		}
	}
	return false
}

// appendKey writes a value so that equal values, and NaNs, have equal bytes.
func appendKey(to []byte, v *vec, i int) []byte {
	switch {
	case v.kind == vocab.String || v.kind == vocab.Bytes:
		return append(to, v.text(i)...)
	case v.kind == vocab.Bool:
		return append(to, byte(boolBit(v.bits.has(i))))
	}
	n := uint64(0)
	if v.kind.Float() {
		if x := v.f64(i); x != 0 { // both zeros are equal
			n = math.Float64bits(x)
		}
	} else {
		n = v.pattern(i)
	}
	for k := range 8 {
		to = append(to, byte(n>>(8*k)))
	}
	return to
}

// product makes the kernels of dot and distance over lists of one length.
func (c *compiler) product(e *typed.Expr, compute func(x *vec, lo, hi int, y *vec, from int, to []byte, i int) outcome, why *Fault) kernel {
	kind, width := elementKind(e), batch.Width(e.Type.Kind)
	faults := []*Fault{why, c.fault(InvalidArgument, e.Func, "the lists have different lengths")}
	return func(f *frame, args []vec) vec {
		a, b := f.elements(&args[0], kind), f.elements(&args[1], kind)
		raw := f.scratch.bytes(f.n * width)
		clear(raw)
		v := f.verdicts(f.strict(args), faults)
		todo := f.todo(v.valid)
		for i := range f.n {
			if todo != nil && !todo.has(i) {
				continue
			}
			lo, hi := a.span(i)
			from, to := b.span(i)
			if hi-lo != to-from {
				v.note(i, refusedOtherwise)
				continue
			}
			v.note(i, compute(&a.of, lo, hi, &b.of, from, raw, i))
		}
		return vec{fixed: raw, valid: v.close()}
	}
}

func (c *compiler) dot(e *typed.Expr) kernel {
	kind := e.Type.Kind
	if kind.Float() {
		return c.product(e, func(x *vec, lo, hi int, y *vec, from int, to []byte, i int) outcome {
			sum := 0.0
			for k := range hi - lo {
				sum += float64(x.f64(lo+k) * y.f64(from+k)) // never fused
			}
			return storeFloat(to, kind, i, sum)
		}, c.fault(InvalidArgument, e.Func, "the result is no finite "+kind.String()))
	}
	return c.product(e, func(x *vec, lo, hi int, y *vec, from int, to []byte, i int) outcome {
		var t total
		for k := range hi - lo {
			t.addProduct(x.pattern(lo+k), y.pattern(from+k), kind)
		}
		return t.store(to, kind, i)
	}, c.outside(e))
}

func (c *compiler) distance(e *typed.Expr) kernel {
	return c.product(e, func(x *vec, lo, hi int, y *vec, from int, to []byte, i int) outcome {
		sum := 0.0
		for k := range hi - lo {
			d := x.f64(lo+k) - y.f64(from+k)
			sum += float64(d * d)
		}
		return storeFloat(to, vocab.F64, i, math.Sqrt(sum))
	}, c.fault(InvalidArgument, e.Func, "the result is no finite F64"))
}

// joinList joins the texts of each list.
func (c *compiler) joinList(e *typed.Expr) kernel {
	full := c.columnFull(e.Func)
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], vocab.String)
		valid := f.strict(args)
		t := f.text(valid, 0)
		todo := f.todo(valid)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				lo, hi := lists.span(i)
				for k := lo; k < hi && t.join(i, k > lo, args[1].text(i), lists.of.text(k)); k++ {
				}
			}
			t.close(i, t.undo(i, from))
		}
		return t.finish(full)
	}
}

// join appends a text, and a separator before it unless it is the first.
func (t *text) join(i int, behind bool, separator, part []byte) bool {
	if !behind {
		separator = nil
	}
	if !t.room(i, len(separator)+len(part)) {
		return false
	}
	t.data = append(append(t.data, separator...), part...)
	return true
}

const (
	// patternsMax and patternBytesMax bound what contains_any looks for.
	patternsMax     = 128
	patternBytesMax = 64 << 10
)

// containsAny reports whether a text holds one of a list.
func (c *compiler) containsAny(e *typed.Expr) kernel {
	fault := c.fault(InvalidArgument, e.Func, "there are at most 128 parts of 64 KiB together")
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[1], vocab.String)
		return checkedBools(func(args []vec, i int) (bool, outcome) {
			lo, hi := lists.span(i)
			size := 0
			for k := lo; k < hi; k++ {
				size += len(lists.of.text(k))
			}
			if hi-lo > patternsMax || size > patternBytesMax {
				return false, refused
			}
			s := args[0].text(i)
			for k := lo; k < hi; k++ {
				if bytes.Contains(s, lists.of.text(k)) {
					return true, present
				}
			}
			return false, present
		}, fault)(f, args)
	}
}
