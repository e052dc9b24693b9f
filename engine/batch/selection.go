package batch

import "plexus/primitives/invariant"

// Selection is an ascending choice of rows of a batch. It is a value: narrowing
// makes a new one. The zero value selects nothing of an empty batch.
type Selection struct {
	rows  []int32 // nil when all
	total int32
	all   bool
}

// All selects every row of a batch of total rows.
func All(total int) Selection { return Selection{total: int32(total), all: true} }

// Rows selects the given rows of a batch of total rows. They ascend and lie
// below total; the selection keeps the slice.
func Rows(total int, rows []int32) Selection {
	if len(rows) == total {
		return All(total)
	}
	invariant.That(len(rows) < total, "B2: a selection holds a row twice")
	return Selection{rows: rows, total: int32(total)}
}

// Total returns the rows of the batch the selection chooses from.
func (s Selection) Total() int { return int(s.total) }

// Len returns the number of selected rows.
func (s Selection) Len() int {
	if s.all {
		return int(s.total)
	}
	return len(s.rows)
}

// IsAll reports whether every row is selected.
func (s Selection) IsAll() bool { return s.all }

// At returns the i-th selected row.
func (s Selection) At(i int) int32 {
	if s.all {
		return int32(i)
	}
	return s.rows[i]
}

// AppendRows appends the selected rows to dst.
func (s Selection) AppendRows(dst []int32) []int32 {
	if !s.all {
		return append(dst, s.rows...)
	}
	for i := range s.total {
		dst = append(dst, i)
	}
	return dst
}

// Narrow selects, of the rows s selects, those at the given ascending
// positions.
func (s Selection) Narrow(positions []int32) Selection {
	if len(positions) == s.Len() {
		return s
	}
	if s.all {
		return Selection{rows: positions, total: s.total}
	}
	rows := make([]int32, len(positions))
	for i, p := range positions {
		rows[i] = s.rows[p]
	}
	return Selection{rows: rows, total: s.total}
}

// span returns the first row when the selected rows lie side by side.
func (s Selection) span() (first int, ok bool) {
	switch {
	case s.all:
		return 0, true
	case len(s.rows) == 0:
		return 0, true
	}
	n := len(s.rows)
	return int(s.rows[0]), int(s.rows[n-1]-s.rows[0]) == n-1
}

// Select returns the values of a row-aligned list that belong to the selected
// rows: watermarks, shares, positions. It returns values itself when every row
// is selected.
func Select[T any](s Selection, values []T) []T {
	invariant.That(len(values) == s.Total(), "B2: a row-aligned list has another length than its batch")
	if s.all {
		return values
	}
	out := make([]T, len(s.rows))
	for i, r := range s.rows {
		out[i] = values[r]
	}
	return out
}
