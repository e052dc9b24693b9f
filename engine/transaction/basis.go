package transaction

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"plexus/engine/schedule"
	"strings"
)

// Basis is the fingerprint of everything that planning for a domain reads (X4):
// its definitions, lifecycle and schedule, the other schedules as load, and the
// nodes with what they can take.
func Basis(v View, domain string) [sha256.Size]byte {
	h := fingerprint{sha256.New()}
	if d, ok := v.State.Domain(domain); ok {
		h.text(d.Name)
		h.numbers(d.Definition, d.Runtime, d.Generation, d.Positions, uint64(d.Placement))
		h.flags(d.Running)
	}
	for d := range v.State.Domains() {
		if s, ok := v.State.Schedule(d.Name); ok {
			h.text(d.Name)
			h.numbers(s.Index)
		}
	}
	nodes := slices.SortedFunc(slices.Values(v.Cluster.Nodes), func(a, b schedule.Node) int { return strings.Compare(a.ID, b.ID) })
	for _, n := range nodes {
		h.text(n.ID)
		h.flags(n.Live, n.Voter, n.Cordoned, n.Terminating)
	}
	h.numbers(uint64(v.Cluster.ReplicaCount))
	return [sha256.Size]byte(h.Sum(nil))
}

// fingerprint writes values so that no two lists of them look the same.
type fingerprint struct{ hash.Hash }

func (f fingerprint) text(s string) {
	f.numbers(uint64(len(s)))
	f.Write([]byte(s))
}

func (f fingerprint) numbers(list ...uint64) {
	for _, n := range list {
		f.Write(binary.BigEndian.AppendUint64(nil, n))
	}
}

func (f fingerprint) flags(list ...bool) {
	for _, b := range list {
		if b {
			f.Write([]byte{1})
		} else {
			f.Write([]byte{0})
		}
	}
}
