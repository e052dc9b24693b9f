package placement

import "math/bits"

// set is a set of operators.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// intersect returns what two sets have in common.
func (s set) intersect(o set) set {
	common := make(set, len(s))
	for i := range s {
		common[i] = s[i] & o[i]
	}
	return common
}

// members lists a set in ascending order.
func (s set) members() (list []int) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			list = append(list, i*64+bits.TrailingZeros64(w))
		}
	}
	return list
}

// relation is a set of unordered pairs of different operators, as a symmetric
// matrix of bits.
type relation struct {
	n, words int
	rows     set
}

func newRelation(n int) relation {
	words := (n + 63) / 64
	return relation{n: n, words: words, rows: make(set, n*words)}
}

func (r relation) row(i int) set { return r.rows[i*r.words : (i+1)*r.words] }

func (r relation) has(a, b int) bool { return r.row(a).has(b) }

func (r relation) add(a, b int) {
	r.row(a).add(b)
	r.row(b).add(a)
}

// clique adds every pair of a set.
func (r relation) clique(of set) {
	for _, a := range of.members() {
		row := r.row(a)
		for i := range row {
			row[i] |= of[i]
		}
		row[a/64] &^= 1 << (a % 64)
	}
}

// union adds the pairs of another relation.
func (r relation) union(o relation) {
	for i := range r.rows {
		r.rows[i] |= o.rows[i]
	}
}

// without returns the pairs that another relation does not have.
func (r relation) without(o relation) relation {
	rest := relation{n: r.n, words: r.words, rows: make(set, len(r.rows))}
	for i := range r.rows {
		rest.rows[i] = r.rows[i] &^ o.rows[i]
	}
	return rest
}

// meets reports whether two relations have a pair in common, and the first.
func (r relation) meets(o relation) (pair [2]int, ok bool) {
	for i, w := range r.rows {
		if common := w & o.rows[i]; common != 0 {
			return [2]int{i / r.words, i%r.words*64 + bits.TrailingZeros64(common)}, true
		}
	}
	return pair, false
}
