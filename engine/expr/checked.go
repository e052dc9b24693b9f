package expr

// outcome is what a row function says of its row: the value is there, it is null,
// or it fails by the fault at position outcome-1 of its kernel.
type outcome int

const (
	absent outcome = iota - 1
	present
	refused
	refusedOtherwise
	refusedThirdly
)

// verdicts collects the outcomes of a run.
type verdicts struct {
	f      *frame
	valid  bitmap
	bad    []bitmap // by fault, nil where none
	faults []*Fault
}

func (f *frame) verdicts(valid bitmap, faults []*Fault) verdicts {
	return verdicts{f: f, valid: valid, bad: make([]bitmap, len(faults)), faults: faults}
}

// note records the outcome of row i, unless it is present.
func (v *verdicts) note(i int, o outcome) {
	switch {
	case o == present:
		return
	case o == absent:
		if v.valid == nil || v.valid.has(i) {
			own := v.f.scratch.full(v.f.n)
			if v.valid != nil {
				copy(own, v.valid)
			}
			own.unset(i)
			v.valid = own
		}
		return
	}
	k := int(o - refused)
	if v.bad[k] == nil {
		v.bad[k] = v.f.scratch.empty(v.f.n)
	}
	v.bad[k].set(i)
}

// close reports the failed rows and returns those that have a value.
func (v *verdicts) close() bitmap {
	for k, bad := range v.bad {
		if bad != nil {
			v.valid = v.f.failing(v.valid, bad, v.faults[k])
		}
	}
	return v.valid
}

// checkedTexts makes a kernel that builds a text or octets for each row without a
// null operand.
func (c *compiler) checkedTexts(name string, build func(t *text, args []vec, i int) outcome, faults ...*Fault) kernel {
	return checkedTexts(c.columnFull(name), build, faults...)
}

func checkedTexts(full *Fault, build func(t *text, args []vec, i int) outcome, faults ...*Fault) kernel {
	return func(f *frame, args []vec) vec {
		v := f.verdicts(f.strict(args), faults)
		t := f.text(v.valid, args[0].size())
		todo := f.todo(v.valid)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				o := build(&t, args, i)
				if o != present {
					t.data = t.data[:from]
				}
				v.note(i, o)
			}
			t.close(i, from)
		}
		t.valid = v.close()
		return t.finish(full)
	}
}

// checkedViews makes a kernel whose results are parts of the first operand.
func checkedViews(part func(args []vec, i int) (lo, hi int, o outcome), faults ...*Fault) kernel {
	return func(f *frame, args []vec) vec {
		a := &args[0]
		v := f.verdicts(f.strict(args), faults)
		out := vec{data: a.data, lo: f.scratch.int32s(f.n), hi: f.scratch.int32s(f.n)}
		todo := f.todo(v.valid)
		for i := range f.n {
			lo, hi := 0, 0
			if todo == nil || todo.has(i) {
				var o outcome
				lo, hi, o = part(args, i)
				v.note(i, o)
			}
			out.lo[i], out.hi[i] = a.lo[i]+int32(lo), a.lo[i]+int32(hi)
		}
		out.valid = v.close()
		return out
	}
}

// checkedNumbers makes a kernel that computes a 64-bit number for each row.
func checkedNumbers[T int64 | uint64](number func(args []vec, i int) (T, outcome), faults ...*Fault) kernel {
	return func(f *frame, args []vec) vec {
		out, raw := fixed[T](f.scratch, f.n)
		v := f.verdicts(f.strict(args), faults)
		todo := f.todo(v.valid)
		for i := range out {
			out[i] = 0
			if todo == nil || todo.has(i) {
				var o outcome
				out[i], o = number(args, i)
				v.note(i, o)
			}
		}
		return vec{fixed: raw, valid: v.close()}
	}
}

// checkedBools makes a kernel that decides about each row.
func checkedBools(test func(args []vec, i int) (bool, outcome), faults ...*Fault) kernel {
	return func(f *frame, args []vec) vec {
		out := f.scratch.empty(f.n)
		v := f.verdicts(f.strict(args), faults)
		todo := f.todo(v.valid)
		for i := range f.n {
			if todo == nil || todo.has(i) {
				is, o := test(args, i)
				if is && o == present {
					out.set(i)
				}
				v.note(i, o)
			}
		}
		return vec{bits: out, valid: v.close()}
	}
}
