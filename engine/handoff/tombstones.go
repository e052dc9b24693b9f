package handoff

import (
	"bytes"
	"slices"

	"plexus/primitives"
)

// tombstones remembers the newest discarded bindings: a request to prepare one of
// them that comes late makes nothing that nobody would remove. Another attempt at
// the same transition, by another leader or under another hold, is not late.
type tombstones struct {
	set   map[Binding]bool
	order []Binding
}

// tombstonesMax bounds them. A late request is bound to this process and its
// binding was discarded a moment ago.
const tombstonesMax = 4096

func newTombstones() tombstones { return tombstones{set: map[Binding]bool{}} }

func (t *tombstones) has(b Binding) bool { return t.set[b] }

func (t *tombstones) add(b Binding) {
	if t.set[b] {
		return
	}
	if len(t.order) == tombstonesMax {
		delete(t.set, t.order[0])
		t.order = t.order[1:]
	}
	t.set[b] = true
	t.order = append(t.order, b)
}

// sortedIDs returns the keys in order.
func sortedIDs[V any](m map[primitives.UUID]V) []primitives.UUID {
	ids := make([]primitives.UUID, 0, len(m))
	for id := range m { //plexus:orderfree sorted below
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b primitives.UUID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}
