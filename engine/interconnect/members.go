package interconnect

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
)

// members is what a node knows of the processes that may connect to it: the
// replicated list, and the newest process seen of every node. The mesh guards it.
type members struct {
	known  map[string]Peer
	newest uint64 // raft id
	seen   map[string]Process
}

func (m *members) set(list []Peer) {
	m.known = make(map[string]Peer, len(list))
	for _, p := range list {
		m.known[p.Node] = p
		m.newest = max(m.newest, p.RaftID)
	}
}

// judge says whether a process is a member, as far as this node knows. Raft ids
// grow and are never used again: an unknown one that is newer than every known one
// belongs to a member this node has not learnt of yet, an older one was dropped.
func (m *members) judge(p Process, removed func(uint64) bool) *SetupError {
	if p.RaftID == 0 {
		return &SetupError{Code: SetupStranger, Detail: fmt.Sprintf("node '%s' is no member", p.Node)}
	}
	if removed != nil && removed(p.RaftID) {
		return &SetupError{Code: SetupRemoved, Detail: "this node was dropped; start it with an empty data directory"}
	}
	known, ok := m.known[p.Node]
	switch {
	case !ok && p.RaftID <= m.newest:
		return &SetupError{Code: SetupRemoved, Detail: "this node was dropped; start it with an empty data directory"}
	case ok && p.RaftID < known.RaftID:
		return &SetupError{Code: SetupRemoved, Detail: "this node was dropped; start it with an empty data directory"}
	case ok && p.RaftID > known.RaftID && p.RaftID <= m.newest:
		return &SetupError{Code: SetupIdentity, Detail: fmt.Sprintf("node '%s' has raft id %d, not %d", p.Node, known.RaftID, p.RaftID)}
	case ok && p.RaftID == known.RaftID && p.Counter < known.Counter:
		return staleProcess(p, known.Counter)
	}
	return nil
}

// proven reports whether a process that judge lets pass may take the place of the
// one that is known: it does when it shows that it knows of that one's admission. An
// old copy of a data directory cannot, however often it is started. One whose
// admission this node has yet to learn of may, unless the one it replaces is linked.
func (m *members) proven(p Process, proof [][]byte, linked bool) bool {
	known, ok := m.known[p.Node]
	switch {
	case !ok:
		return true
	case p.RaftID != known.RaftID:
		return !linked
	case known.Token == "":
		return true
	}
	want := proofOf(known.Token, p)
	return slices.ContainsFunc(proof, func(one []byte) bool { return bytes.Equal(one, want) })
}

// proofOf binds the token of an admission to the process that shows it: whoever it
// is shown to cannot show it for another process.
func proofOf(token string, p Process) []byte {
	b := append([]byte(token), 0)
	b = append(append(b, p.Node...), 0)
	b = binary.BigEndian.AppendUint64(b, p.RaftID)
	b = binary.BigEndian.AppendUint64(b, p.Counter)
	sum := sha256.Sum256(append(b, p.Epoch[:]...))
	return sum[:16]
}

func staleProcess(p Process, admitted uint64) *SetupError {
	return &SetupError{Code: SetupStale, Detail: fmt.Sprintf(
		"stale incarnation: start %d of node '%s', start %d was admitted; two processes share one identity, or an old copy of the directory was restored", p.Counter, p.Node, admitted)}
}

// meet notes a process that proved to be a member. older is the process of the
// same node that it replaces.
func (m *members) meet(p Process) (older Process, refused *SetupError) {
	last, ok := m.seen[p.Node]
	switch {
	case ok && last == p:
		return Process{}, nil
	case ok && last.RaftID == p.RaftID && last.Counter == p.Counter:
		return Process{}, &SetupError{Code: SetupDuplicate, Detail: fmt.Sprintf(
			"stale incarnation: start %d of node '%s' is another process; two processes share one identity, or an old copy of the directory was restored", p.Counter, p.Node)}
	case ok && last.Newer(p):
		return Process{}, staleProcess(p, last.Counter)
	}
	if m.seen == nil {
		m.seen = map[string]Process{}
	}
	m.seen[p.Node] = p
	return last, nil
}

// caller is an accepted HELLO.
type caller struct {
	process Process
	class   Class
	slot    int
	guest   bool
}

// receptionist holds what a HELLO is checked against.
type receptionist struct {
	self      Process
	clusterID string
	cluster   primitives.UUID
	endpoint  string
	proof     [][]byte
	removed   func(uint64) bool
	stopping  bool
}

// receive checks every field of a HELLO.
func (r *receptionist) receive(h *interconnectpb.Hello, cert *certified, known *members, linked bool) (caller, *SetupError) {
	refuse := func(code SetupCode, text string, args ...any) (caller, *SetupError) {
		return caller{}, &SetupError{Code: code, Detail: fmt.Sprintf(text, args...)}
	}
	p, err := processOf(h.GetProcess())
	switch {
	case err != nil:
		return refuse(SetupMalformed, "%v", err)
	case len(h.GetCluster()) != 0 && len(h.GetCluster()) != len(primitives.UUID{}):
		return refuse(SetupMalformed, "a cluster UUID of %d bytes", len(h.GetCluster()))
	case h.GetFormat() != Format:
		return refuse(SetupFormat, "incompatible build: format %d, cluster runs %d", h.GetFormat(), Format)
	case h.GetClusterId() != r.clusterID:
		return refuse(SetupCluster, "node belongs to cluster '%s'", r.clusterID)
	case len(h.GetCluster()) != 0 && r.cluster != (primitives.UUID{}) && primitives.UUID(h.GetCluster()) != r.cluster:
		return refuse(SetupCluster, "node belongs to cluster '%s' with UUID %s", r.clusterID, r.cluster)
	case cert != nil && cert.cluster != r.clusterID:
		return refuse(SetupCertificate, "the certificate is of cluster '%s'", cert.cluster)
	case cert != nil && cert.node != p.Node:
		return refuse(SetupCertificate, "the certificate is of node '%s', not '%s'", cert.node, p.Node)
	case p.Node == r.self.Node && p != r.self:
		return refuse(SetupDuplicate, "this node is '%s' itself: two processes share one identity", p.Node)
	case h.GetNode() != "" && h.GetNode() != r.self.Node:
		return refuse(SetupMisdirected, "this is node '%s', not '%s'", r.self.Node, h.GetNode())
	case h.GetNode() != "" && h.GetEndpoint() != r.endpoint:
		return refuse(SetupMisdirected, "node '%s' is reached at %s, not %s", r.self.Node, r.endpoint, h.GetEndpoint())
	case h.GetClass() >= uint32(classCount) || h.GetSlot() >= uint32(connections[h.GetClass()]):
		return refuse(SetupClass, "no slot %d of class %d", h.GetSlot(), h.GetClass())
	case r.stopping:
		return refuse(SetupStopping, "node '%s' is stopping", r.self.Node)
	}
	c := caller{process: p, class: Class(h.GetClass()), slot: int(h.GetSlot())}
	if p.RaftID == 0 || len(h.GetCluster()) == 0 {
		c.guest = true
		if c.class != Management {
			return refuse(SetupStranger, "node '%s' is no member", p.Node)
		}
		return c, nil
	}
	if r.cluster == (primitives.UUID{}) {
		return refuse(SetupStranger, "node '%s' has not joined yet", r.self.Node)
	}
	if e := known.judge(p, r.removed); e != nil {
		return caller{}, e
	}
	if c.guest = !known.proven(p, h.GetProof(), linked); c.guest && c.class != Management {
		return refuse(SetupUnproven, "start %d of node '%s' does not know of the admission of the one that is a member here", p.Counter, p.Node)
	}
	return c, nil
}

// accept checks a WELCOME against whom the dialler expected: a node and raft id, or
// anybody where the node is empty.
func (r *receptionist) accept(w *interconnectpb.Welcome, cert *certified, expected Peer, known *members) (Process, *SetupError) {
	refuse := func(code SetupCode, text string, args ...any) (Process, *SetupError) {
		return Process{}, &SetupError{Code: code, Detail: fmt.Sprintf(text, args...)}
	}
	p, err := processOf(w.GetProcess())
	switch {
	case err != nil:
		return refuse(SetupMalformed, "%v", err)
	case len(w.GetCluster()) != 0 && len(w.GetCluster()) != len(primitives.UUID{}):
		return refuse(SetupMalformed, "a cluster UUID of %d bytes", len(w.GetCluster()))
	case len(w.GetCluster()) != 0 && r.cluster != (primitives.UUID{}) && primitives.UUID(w.GetCluster()) != r.cluster:
		return refuse(SetupCluster, "node '%s' belongs to another cluster", p.Node)
	case cert != nil && cert.cluster != r.clusterID:
		return refuse(SetupCertificate, "the certificate is of cluster '%s'", cert.cluster)
	case cert != nil && cert.node != p.Node:
		return refuse(SetupCertificate, "the certificate is of node '%s', not '%s'", cert.node, p.Node)
	case expected.Node == "":
		return p, nil
	case p.Node != expected.Node:
		return refuse(SetupMisdirected, "this is node '%s', not '%s'", p.Node, expected.Node)
	case p.RaftID != 0 && p.RaftID != expected.RaftID:
		return refuse(SetupIdentity, "node '%s' has raft id %d, not %d", p.Node, p.RaftID, expected.RaftID)
	case p.RaftID != 0 && p.Counter < expected.Counter:
		return Process{}, staleProcess(p, expected.Counter)
	case p.RaftID != 0 && !known.proven(p, w.GetProof(), false):
		return refuse(SetupUnproven, "start %d of node '%s' does not know of the admission of start %d", p.Counter, p.Node, expected.Counter)
	}
	return p, nil
}
