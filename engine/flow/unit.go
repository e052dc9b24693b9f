package flow

import (
	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/expr"
	"plexus/primitives"
)

// Unit is one unit of work: every expression of it sees one instant of the
// domain clock.
type Unit struct {
	At      primitives.Instant // physical, for stamps
	Context expr.Context       // Context.Now is the snapshot
}

// Unit begins a unit of work.
func (d *Domain) Unit() *Unit {
	return &Unit{
		At:      d.world.Clock().Now(),
		Context: expr.Context{Now: d.clock.Snapshot(), Entropy: d.world.Entropy(), Memory: d.deps.Memory},
	}
}

// Divide consumes the shares of a batch: rows that were kept and rows that
// failed stay open in sets of their own, the others are finished. failed
// ascends and holds no kept row.
func Divide(s *ack.Set, kept batch.Selection, failed []int32, now primitives.Instant) (keptSet, failedSet *ack.Set) {
	switch {
	case s == nil:
		return nil, nil
	case kept.IsAll() && len(failed) == 0:
		return s, nil
	case len(failed) == 0:
		return s.Select(kept.AppendRows(nil), now), nil
	}
	open := make([]int32, 0, kept.Len()+len(failed))
	at := make([]int32, 0, len(failed)) // where the failed rows stand among the open ones
	k := 0
	for _, row := range failed {
		for k < kept.Len() && kept.At(k) < row {
			open = append(open, kept.At(k))
			k++
		}
		at = append(at, int32(len(open)))
		open = append(open, row)
	}
	for ; k < kept.Len(); k++ {
		open = append(open, kept.At(k))
	}
	failedSet, keptSet = s.Select(open, now).Partition(at)
	return keptSet, failedSet
}
