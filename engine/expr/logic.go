package expr

// Three-valued logic on words: a row is true where value and valid are set,
// false where only valid is. A missing valid bitmap says that all are.

func not(f *frame, args []vec) vec {
	a := args[0]
	out := f.scratch.bits(f.n)
	for i := range out {
		out[i] = ^a.bits[i]
	}
	if len(out) > 0 {
		out[len(out)-1] &= tail(f.n)
	}
	return vec{bits: out, valid: a.valid}
}

func and(f *frame, args []vec) vec {
	a, b := &args[0], &args[1]
	out := f.scratch.bits(f.n)
	if a.valid == nil && b.valid == nil {
		for i := range out {
			out[i] = a.bits[i] & b.bits[i]
		}
		return vec{bits: out}
	}
	valid := f.scratch.bits(f.n)
	for i := range out {
		av, bv := validWord(a, i, f.n), validWord(b, i, f.n)
		at, bt := a.bits[i]&av, b.bits[i]&bv
		out[i] = at & bt
		// Known where both are, and where one is known to be false.
		valid[i] = av&bv | av&^at | bv&^bt
	}
	return vec{bits: out, valid: valid}
}

func or(f *frame, args []vec) vec {
	a, b := &args[0], &args[1]
	out := f.scratch.bits(f.n)
	if a.valid == nil && b.valid == nil {
		for i := range out {
			out[i] = a.bits[i] | b.bits[i]
		}
		return vec{bits: out}
	}
	valid := f.scratch.bits(f.n)
	for i := range out {
		av, bv := validWord(a, i, f.n), validWord(b, i, f.n)
		at, bt := a.bits[i]&av, b.bits[i]&bv
		out[i] = at | bt
		valid[i] = av&bv | at | bt
	}
	return vec{bits: out, valid: valid}
}

// validWord returns one word of a validity bitmap that may be missing.
func validWord(v *vec, i, n int) uint64 {
	if v.valid != nil {
		return v.valid[i]
	}
	if i == (n-1)/64 {
		return tail(n)
	}
	return ^uint64(0)
}

// isNull is the kernel of is_null for every type.
func isNull(f *frame, args []vec) vec {
	if args[0].valid == nil {
		return vec{bits: f.scratch.empty(f.n)}
	}
	return vec{bits: f.scratch.without(f.n, nil, args[0].valid)}
}

// strict returns the rows for which every operand is present, nil for all.
func (f *frame) strict(args []vec) bitmap {
	var valid bitmap
	for i := range args {
		v := args[i].valid
		if args[i].scalar && v != nil && f.n != 1 {
			if v.has(0) {
				continue
			}
			return f.scratch.empty(f.n)
		}
		valid = f.scratch.both(valid, v)
	}
	return valid
}

// failing reports a fault for rows and returns the validity that is left.
func (f *frame) failing(valid, bad bitmap, fault *Fault) bitmap {
	if valid != nil {
		bad = f.scratch.both(bad, valid)
	}
	if !bad.any() {
		return valid
	}
	f.fail(bad, fault)
	return f.scratch.without(f.n, valid, bad)
}
