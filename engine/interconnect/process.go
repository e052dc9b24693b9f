package interconnect

import (
	"encoding/hex"
	"fmt"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
)

// Epoch is drawn once by every process: it tells processes apart that claim the
// same incarnation, and fences what lives in memory only.
type Epoch [16]byte

// NewEpoch draws an epoch.
func NewEpoch(w primitives.World) (e Epoch) {
	w.Entropy().Read(e[:])
	return e
}

func (e Epoch) String() string { return hex.EncodeToString(e[:]) }

// Process is one run of one node. Raft id and start counter are its incarnation.
type Process struct {
	Node    string
	RaftID  uint64
	Counter uint64
	Epoch   Epoch
}

// IsZero reports whether it is nobody.
func (p Process) IsZero() bool { return p == Process{} }

func (p Process) String() string {
	return fmt.Sprintf("%s (raft id %d, start %d, epoch %s)", p.Node, p.RaftID, p.Counter, p.Epoch)
}

// Newer reports whether p is a later incarnation of the same node than other.
func (p Process) Newer(other Process) bool {
	if p.RaftID != other.RaftID {
		return p.RaftID > other.RaftID
	}
	return p.Counter > other.Counter
}

func (p Process) proto() *interconnectpb.Process {
	return &interconnectpb.Process{Node: p.Node, RaftId: p.RaftID, Counter: p.Counter, Epoch: p.Epoch[:]}
}

func processOf(m *interconnectpb.Process) (Process, error) {
	if len(m.GetEpoch()) != len(Epoch{}) {
		return Process{}, fmt.Errorf("%w: an epoch of %d bytes", ErrMalformed, len(m.GetEpoch()))
	}
	if !validNode(m.GetNode()) {
		return Process{}, fmt.Errorf("%w: no node id", ErrMalformed)
	}
	return Process{Node: m.GetNode(), RaftID: m.GetRaftId(), Counter: m.GetCounter(), Epoch: Epoch(m.GetEpoch())}, nil
}

// validNode reports whether a text is a node id.
func validNode(id string) bool {
	if id == "" || len(id) > 63 || id[0] == '-' || id[len(id)-1] == '-' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
