package contract

// Division cuts a run of members into parts that respect two limits, in order.
// The host packs records with it, row sinks divide requests with it.
type Division struct {
	Members   int
	CountMax  int    // members in one part, at least 1
	BytesMax  uint64 // measured size of one part, inclusive
	nextStart int
}

// Part is members Start to End (exclusive). Fits false means that the part is
// one member, and even that is larger than BytesMax; Size says how large.
type Part struct {
	Start, End int
	Size       uint64
	Fits       bool
}

// Next returns the next part, or false at the end. measure returns the exact
// size of a candidate. A candidate that does not fit is halved and measured
// again, because a smaller candidate need not be smaller in bytes: k members are
// measured at most ceil(log2 k) + 1 times. The rest returns to the front.
func (d *Division) Next(measure func(start, end int) uint64) (Part, bool) {
	start := d.nextStart
	if start >= d.Members {
		return Part{}, false
	}
	end := min(start+d.CountMax, d.Members)
	for {
		size := measure(start, end)
		if size <= d.BytesMax || end-start == 1 {
			d.nextStart = end
			return Part{start, end, size, size <= d.BytesMax}, true
		}
		end = start + (end-start+1)/2
	}
}
