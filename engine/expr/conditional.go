package expr

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// choices returns one undecided choice for each row.
func (f *frame) choices() []int16 {
	if f.n == 0 {
		return nil
	}
	raw := f.scratch.bytes(2 * f.n)
	return unsafe.Slice((*int16)(unsafe.Pointer(unsafe.SliceData(raw))), f.n)
}

func listType(t vocab.Type) arrow.DataType {
	if t.Kind.Scalar() {
		return nil
	}
	return batch.ArrowType(t)
}

// caseWhen evaluates CASE WHEN and IF: operands are pairs of condition and
// result, then the result of the rows no condition took.
func (c *compiler) caseWhen(d *node, e *typed.Expr) func(f *frame) vec {
	full := c.fault(Overflow, "CASE", "the texts of the batch pass what one column holds")
	t := listType(e.Type)
	arms := len(d.args) / 2
	return func(f *frame) vec {
		return f.arms(e.Type.Kind, t, full, arms, func(k int) bitmap {
			return f.matches(d.args[2*k].run(f))
		}, func(k int) *node {
			if k == arms {
				return d.args[2*arms]
			}
			return d.args[2*k+1]
		})
	}
}

// caseValue evaluates CASE x WHEN: x once for every row, then matches and
// results.
func (c *compiler) caseValue(d *node, e *typed.Expr) func(f *frame) vec {
	full := c.fault(Overflow, "CASE", "the texts of the batch pass what one column holds")
	equal := comparison(typed.OpEq, e.Args[0].Type.Kind)
	if equal == nil {
		return nil
	}
	t := listType(e.Type)
	arms := (len(d.args) - 1) / 2
	return func(f *frame) vec {
		operand := f.scratch.expand(d.args[0].run(f), f.n)
		return f.arms(e.Type.Kind, t, full, arms, func(k int) bitmap {
			match := f.scratch.expand(d.args[1+2*k].run(f), f.n)
			out := equal(f, []vec{operand, match})
			return f.matches(out)
		}, func(k int) *node {
			if k == arms {
				return d.args[1+2*arms]
			}
			return d.args[2+2*k]
		})
	}
}

// matches returns the rows for which a condition is true.
func (f *frame) matches(v vec) bitmap {
	v = f.scratch.expand(v, f.n)
	if v.valid == nil {
		return v.bits
	}
	return f.scratch.both(v.bits, v.valid)
}

// arms evaluates conditions in order, each for the rows that no earlier one
// took, and each result for the rows that take it (X3).
func (f *frame) arms(kind vocab.Kind, t arrow.DataType, full *Fault, arms int, condition func(k int) bitmap, result func(k int) *node) vec {
	s := f.scratch
	outside := f.active
	rest := outside
	if rest == nil {
		rest = s.full(f.n)
	}
	choice := f.choices()
	for i := range choice {
		choice[i] = choiceNull
	}
	results := make([]vec, 0, arms+1)
	take := func(k int, rows bitmap) {
		f.active = rows
		results = append(results, result(k).run(f))
		for _, i := range f.scratch.positions(rows) {
			choice[i] = int16(len(results) - 1)
		}
	}
	for k := 0; k < arms && rest.any(); k++ {
		f.active = rest
		taken := s.both(condition(k), rest)
		if taken.any() {
			rest = s.without(f.n, rest, taken)
			take(k, taken)
		}
	}
	if rest.any() {
		take(arms, rest)
	}
	f.active = outside
	return f.merge(kind, t, results, choice, full)
}
