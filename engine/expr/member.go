package expr

import (
	"bytes"
	"slices"

	"github.com/zeebo/xxh3"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// linearMax is the set size up to which comparing with every element is faster
// than searching.
const linearMax = 8

// membership returns the kernel of x IN (constants).
func membership(set []typed.Literal, kind vocab.Kind, negate bool) kernel {
	if len(set) == 0 {
		return func(f *frame, _ []vec) vec {
			if negate {
				return vec{bits: f.scratch.full(f.n)}
			}
			return vec{bits: f.scratch.empty(f.n)}
		}
	}
	find := finder(set, kind)
	if find == nil || !negate {
		return find
	}
	return func(f *frame, args []vec) vec { return not(f, []vec{find(f, args)}) }
}

func finder(set []typed.Literal, kind vocab.Kind) kernel {
	switch kind {
	case vocab.U8:
		return findFixed[uint8](set, kind)
	case vocab.U16:
		return findFixed[uint16](set, kind)
	case vocab.U32:
		return findFixed[uint32](set, kind)
	case vocab.U64:
		return findFixed[uint64](set, kind)
	case vocab.I8:
		return findFixed[int8](set, kind)
	case vocab.I16:
		return findFixed[int16](set, kind)
	case vocab.I32:
		return findFixed[int32](set, kind)
	case vocab.I64, vocab.Datetime:
		return findFixed[int64](set, kind)
	case vocab.F32:
		return findFixed[float32](set, kind)
	case vocab.F64:
		return findFixed[float64](set, kind)
	case vocab.Bool:
		return findBool(set)
	case vocab.String:
		return findText(set)
	default:
		return nil
	}
}

// findFixed looks values up; NaN is in no set, and zeros are equal.
func findFixed[T number](set []typed.Literal, kind vocab.Kind) kernel {
	elements := make([]T, 0, len(set))
	for _, l := range set {
		v := literal(l, kind)
		if x := as[T](v.fixed)[0]; x == x {
			elements = append(elements, x)
		}
	}
	slices.Sort(elements)
	elements = slices.Compact(elements)
	return func(f *frame, args []vec) vec {
		a := as[T](args[0].fixed)[:f.n]
		out := f.scratch.empty(f.n)
		if len(elements) > linearMax {
			each(out, a, func(i int) uint64 {
				_, found := slices.BinarySearch(elements, a[i])
				return bit(found)
			})
			return vec{bits: out, valid: args[0].valid}
		}
		for _, x := range elements {
			for i := range a {
				out[i>>6] |= bit(a[i] == x) << (i & 63)
			}
		}
		return vec{bits: out, valid: args[0].valid}
	}
}

func findBool(set []typed.Literal) kernel {
	var holds [2]uint64 // a word of the answer for false and for true
	for _, l := range set {
		holds[bit(l.Bool)] = ^uint64(0)
	}
	return func(f *frame, args []vec) vec {
		out := f.scratch.bits(f.n)
		for i := range out {
			a := args[0].bits[i]
			out[i] = a&holds[1] | ^a&holds[0]
		}
		if len(out) > 0 {
			out[len(out)-1] &= tail(f.n)
		}
		return vec{bits: out, valid: args[0].valid}
	}
}

// textSet is an open-addressed table of texts, at most half full.
type textSet struct {
	slots [][]byte // nil where free
	mask  uint64
}

func newTextSet(set []typed.Literal) *textSet {
	size := uint64(2)
	for size < 2*uint64(len(set)) {
		size *= 2
	}
	t := &textSet{slots: make([][]byte, size), mask: size - 1}
	for _, l := range set {
		text := append(make([]byte, 0, len(l.Str)+1), l.Str...)
		if !t.holds(text) {
			t.slots[t.find(text)] = text
		}
	}
	return t
}

// find returns the slot of a text, or the free one where it belongs.
func (t *textSet) find(s []byte) uint64 {
	i := xxh3.Hash(s) & t.mask
	for t.slots[i] != nil && !bytes.Equal(t.slots[i], s) {
		i = (i + 1) & t.mask
	}
	return i
}

func (t *textSet) holds(s []byte) bool { return t.slots[t.find(s)] != nil }

func findText(set []typed.Literal) kernel {
	t := newTextSet(set)
	return func(f *frame, args []vec) vec {
		a := &args[0]
		out := f.scratch.empty(f.n)
		for i := range f.n {
			if (a.valid == nil || a.valid.has(i)) && t.holds(a.text(i)) {
				out.set(i)
			}
		}
		return vec{bits: out, valid: a.valid}
	}
}
