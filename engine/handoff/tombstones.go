package handoff

import (
	"bytes"
	"slices"

	"plexus/primitives"
)

// tombstones remembers the newest discarded transitions: a request to prepare one
// of them that comes late makes nothing that nobody would remove.
type tombstones struct {
	set   map[primitives.UUID]bool
	order []primitives.UUID
}

// tombstonesMax bounds them. A late request is bound to this process and its
// transition was discarded a moment ago.
const tombstonesMax = 4096

func newTombstones() tombstones { return tombstones{set: map[primitives.UUID]bool{}} }

func (t *tombstones) has(id primitives.UUID) bool { return t.set[id] }

func (t *tombstones) add(id primitives.UUID) {
	if t.set[id] {
		return
	}
	if len(t.order) == tombstonesMax {
		delete(t.set, t.order[0])
		t.order = t.order[1:]
	}
	t.set[id] = true
	t.order = append(t.order, id)
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
