package oracle

import (
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
)

// Consensus holds the members of a consensus group to what raft promises, from the
// messages they send each other and the entries they apply:
//
//	election-safety       one leader sends in a term
//	log-matching          an entry of a term at an index is one entry, behind one other
//	leader-completeness   no leader sends another entry than a leader before it committed
//	state-machine-safety  every member applies one entry at an index, in order
//	same-index-same-state states at an index have one digest (CP-4)
//	commit-monotone       what a process knows as committed never shrinks
type Consensus struct {
	fail    func(oracle, message string)
	leaders map[uint64]uint64 // by term
	commits map[uint64]uint64 // by term: how far its leader committed
	log     []sent            // by index
	applied []one             // by index
	digests map[uint64][32]byte
	longest uint64
}

// sent are the entries seen at an index: one for each term that wrote there.
type sent []one

// one is an entry.
type one struct {
	term, previous uint64 // previous is the term of the entry before it
	sum            uint64 // of its content
}

// consensusDigests bounds the cost of encoding whole states.
const consensusDigests = 64

// NewConsensus returns the oracle; fail ends the run.
func NewConsensus(fail func(oracle, message string)) *Consensus {
	return &Consensus{fail: fail, leaders: map[uint64]uint64{}, commits: map[uint64]uint64{}, digests: map[uint64][32]byte{}}
}

// Process is what the oracle knows of one process of a member.
type Process struct {
	c      *Consensus
	name   string
	commit uint64
	last   uint64 // applied
}

// Process begins to watch a process.
func (c *Consensus) Process(name string) *Process { return &Process{c: c, name: name} }

// Longest returns the highest index that any member applied.
func (c *Consensus) Longest() uint64 { return c.longest }

// Leader returns who led in a term, 0 for nobody.
func (c *Consensus) Leader(term uint64) uint64 { return c.leaders[term] }

// Sent looks at a message the process sends.
func (p *Process) Sent(m *pb.Message) {
	switch m.GetType() {
	case pb.MsgApp:
		p.leads(m)
		p.committed(m.GetTerm(), m.GetCommit())
		previous := m.GetLogTerm()
		for _, e := range m.GetEntries() {
			p.entry(m.GetTerm(), e, previous)
			previous = e.GetTerm()
		}
	case pb.MsgHeartbeat, pb.MsgSnap, pb.MsgTimeoutNow:
		p.leads(m)
	}
}

func (p *Process) leads(m *pb.Message) {
	term, from := m.GetTerm(), m.GetFrom()
	if leader := p.c.leaders[term]; leader != 0 && leader != from {
		p.c.fail("election-safety", fmt.Sprintf("members %d and %d both lead in term %d", leader, from, term))
		return
	}
	p.c.leaders[term] = from
}

func (p *Process) committed(term, index uint64) {
	p.c.commits[term] = max(p.c.commits[term], index)
	if index < p.commit {
		p.c.fail("commit-monotone", fmt.Sprintf("%s knew index %d as committed and now says %d", p.name, p.commit, index))
	}
	p.commit = index
}

func (p *Process) entry(term uint64, e *pb.Entry, previous uint64) {
	c, index := p.c, e.GetIndex()
	seen := one{e.GetTerm(), previous, sum(e.GetData())}
	if applied := at(c.applied, index); applied.term != 0 && (applied.term != seen.term || applied.sum != seen.sum) {
		for before, commit := range c.commits { //plexus:orderfree the first of several failures is as good as another
			if before < term && commit >= index {
				c.fail("leader-completeness", fmt.Sprintf("%s leads term %d with an entry of term %d at index %d, where one of term %d was committed", p.name, term, seen.term, index, applied.term))
				return
			}
		}
	}
	c.log = grown(c.log, index)
	i := slices.IndexFunc(c.log[index], func(o one) bool { return o.term == seen.term })
	switch {
	case i < 0:
		c.log[index] = append(c.log[index], seen)
	case c.log[index][i] != seen:
		c.fail("log-matching", fmt.Sprintf("%s sends another entry of term %d at index %d", p.name, seen.term, index))
	}
}

// Recovered looks at the state a process starts with.
func (p *Process) Recovered(state *catalog.State) {
	p.last = state.Applied
	if p.last > 0 {
		p.digest(state)
	}
}

// Applied looks at an entry that the process applies, nil for a snapshot of another
// member, and the state it makes.
func (p *Process) Applied(term uint64, entry []byte, state *catalog.State) {
	c, index := p.c, state.Applied
	snapshot := entry == nil
	switch {
	case snapshot && index <= p.last:
		c.fail("state-machine-safety", fmt.Sprintf("%s replaces its state at index %d by one at %d", p.name, p.last, index))
	case !snapshot && index != p.last+1:
		c.fail("state-machine-safety", fmt.Sprintf("%s applies index %d after %d", p.name, index, p.last))
	}
	p.last = index
	c.longest = max(c.longest, index)
	if snapshot {
		p.digest(state)
		return
	}
	seen := one{term: term, sum: sum(entry)}
	c.applied = grown(c.applied, index)
	switch before := &c.applied[index]; {
	case before.term == 0:
		*before = seen
	case *before != seen:
		c.fail("state-machine-safety", fmt.Sprintf("%s applies an entry of term %d at index %d, another applied one of term %d there", p.name, term, index, before.term))
	}
	if index%consensusDigests == 0 {
		p.digest(state)
	}
}

func (p *Process) digest(state *catalog.State) {
	digest, err := state.Digest()
	if err != nil {
		p.c.fail("same-index-same-state", err.Error())
		return
	}
	if before, seen := p.c.digests[state.Applied]; seen && before != digest {
		p.c.fail("same-index-same-state", fmt.Sprintf("%s has another state at index %d", p.name, state.Applied))
	}
	p.c.digests[state.Applied] = digest
}

// sum tells the content of entries apart.
func sum(data []byte) uint64 {
	if len(data) == 0 {
		return 0
	}
	return xxh3.Hash(data)
}

// at returns the element of an index, zero beyond the end.
func at[E any](list []E, index uint64) (e E) {
	if index < uint64(len(list)) {
		e = list[index]
	}
	return e
}

// grown makes room for an index.
func grown[E any](list []E, index uint64) []E {
	for uint64(len(list)) <= index {
		var zero E
		list = append(list, zero)
	}
	return list
}
