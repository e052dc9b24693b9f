package expr

import (
	"github.com/apache/arrow-go/v18/arrow"

	"plexus/nspl/vocab"
)

// snapshots keep what the working message was when rows failed. Columns are
// never written again, so a snapshot is a list of columns.
type snapshots struct {
	known bitmap // rows that have a snapshot
	taken []snapshot
}

type snapshot struct {
	rows    bitmap
	columns []vec
}

// note takes a snapshot for the rows that failed since the last one.
func (h *snapshots) note(f *frame) {
	s := f.scratch
	fresh := s.without(f.n, nil, f.sound())
	if h.known != nil {
		fresh = s.without(f.n, fresh, h.known)
	}
	if !fresh.any() {
		return
	}
	if h.known == nil {
		h.known = s.empty(f.n)
	}
	for i := range h.known {
		h.known[i] |= fresh[i]
	}
	h.taken = append(h.taken, snapshot{fresh, append([]vec(nil), f.output...)})
}

// record joins the snapshots into one batch with the failed rows in order.
func (h *snapshots) record(f *frame, p *Construction) arrow.RecordBatch {
	choice := make([]int16, f.n)
	for k, shot := range h.taken {
		for _, r := range f.scratch.positions(shot.rows) {
			choice[r] = int16(k)
		}
	}
	columns := make([]vec, len(p.output.Fields))
	arms := make([]vec, len(h.taken))
	for i := range columns {
		kind := p.output.Fields[i].Type.Kind
		for k, shot := range h.taken {
			arms[k] = shot.columns[i]
			if arms[k].kind == vocab.KindInvalid {
				arms[k] = nullOf(kind)
			}
		}
		columns[i] = f.merge(kind, p.partial.Field(i).Type, arms, choice, nil)
	}
	return f.record(p.partial, columns, h.known)
}
