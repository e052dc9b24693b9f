package control

import (
	"fmt"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"go.etcd.io/raft/v3/confchange"
	"go.etcd.io/raft/v3/tracker"
	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
)

// machine is a node with what its disk holds.
type machine struct {
	name     string
	raftID   uint64 // 0 before it heard of its admission
	counter  uint64
	token    [tokenBytes]byte
	known    [][tokenBytes]byte // admissions that the directory knows of
	runs     bool
	admitted bool // this process was, as far as it knows
}

// group is a group without its log: the state, and the configuration that raft makes
// of the changes.
type group struct {
	t        *rapid.T
	state    *catalog.State
	tracker  tracker.ProgressTracker
	machines []*machine
	pending  []proposed // what leaders proposed and nobody applied yet
	given    map[uint64]string
	tokens   byte
}

// proposed is a command with the change of members it stands for.
type proposed struct {
	command *catalogpb.Command
	change  *pb.ConfChangeSingle
}

func newGroup(t *rapid.T) *group {
	g := &group{t: t, state: firstTestState(t), tracker: tracker.MakeProgressTracker(1, 0), given: map[uint64]string{1: "node-1"}}
	g.configure(memberChange(pb.ConfChangeAddNode, 1))
	for i := range 4 {
		g.machines = append(g.machines, &machine{name: fmt.Sprintf("node-%d", i+1)})
		g.start(g.machines[i])
	}
	g.machines[0].raftID = 1
	return g
}

// start begins a process of a machine.
func (g *group) start(m *machine) {
	m.counter++
	m.runs, m.admitted = true, false
	if m.token == ([tokenBytes]byte{}) || len(m.known) > 0 && m.known[len(m.known)-1] == m.token {
		g.tokens++
		m.token = [tokenBytes]byte{g.tokens}
	}
}

// configure changes the configuration of raft.
func (g *group) configure(change *pb.ConfChangeSingle) {
	cfg, progress, err := confchange.Changer{Tracker: g.tracker, LastIndex: g.state.Applied}.Simple(change)
	if err != nil {
		g.t.Fatalf("raft refuses the change of member %d: %v", change.GetNodeId(), err)
	}
	g.tracker.Config, g.tracker.Progress = cfg, progress
}

// apply applies a proposed command: a refused one changes neither.
func (g *group) apply(p proposed) {
	next, result, _ := g.state.Apply(g.state.Applied+1, p.command)
	g.state = next
	if p.change != nil && result.Refused == nil {
		g.configure(p.change)
	}
	g.check()
}

// check holds the configuration of raft against the node records.
func (g *group) check() {
	if want, got := confOf(g.state), g.tracker.ConfState(); !sameConf(want, got) {
		g.t.Fatalf("the node records are %v, the configuration of raft is %v", want, got)
	}
	voters := 0
	for n := range g.state.Nodes() {
		if n.Role == catalog.Voter {
			voters++
		}
		if owner, known := g.given[n.RaftID]; known && owner != n.ID {
			g.t.Fatalf("raft id %d was that of %s and is that of %s", n.RaftID, owner, n.ID)
		}
		g.given[n.RaftID] = n.ID
	}
	if voters == 0 {
		g.t.Fatal("no voter is left")
	}
	if err := g.state.Coherent(); err != nil {
		g.t.Fatal(err)
	}
}

func (g *group) draw(label string) *machine {
	return rapid.SampledFrom(g.machines).Draw(g.t, label)
}

// propose applies a command now or later, or twice.
func (g *group) propose(p proposed) {
	switch rapid.IntRange(0, 5).Draw(g.t, "fate") {
	case 0:
		g.pending = append(g.pending, p)
		return
	case 1:
		g.pending = append(g.pending, p)
	}
	g.apply(p)
}

// claim asks for the admission of a machine's process. The answer may be lost.
func (g *group) claim() {
	m := g.draw("claims")
	if !m.runs {
		return
	}
	c := Claim{Format: format, ClusterID: "c", Node: m.name, RaftID: m.raftID, Counter: m.counter, Token: m.token, Admitted: m.known, Endpoints: Endpoints{Interconnect: m.name + ":1"}}
	if m.raftID != 0 {
		c.Cluster = g.state.Cluster
	}
	v, refused := judge(g.state, "c", c)
	switch {
	case refused != nil:
		g.refused(m, refused)
	case v.admitted != 0:
		if n, ok := g.state.Node(m.name); !ok || n.RaftID != v.admitted || n.Counter != m.counter && m.raftID != 0 {
			g.t.Fatalf("%s is admitted as member %d, the node record is %+v", m.name, v.admitted, n)
		}
		if rapid.IntRange(0, 3).Draw(g.t, "answer") > 0 {
			m.raftID, m.admitted = v.admitted, true
			m.known = append(m.known[max(0, len(m.known)-admittedMax+1):], m.token)
		}
	case v.adds != 0:
		g.propose(proposed{stepCommand(v.step), memberChange(pb.ConfChangeAddLearnerNode, v.adds)})
	default:
		g.propose(proposed{stepCommand(v.step), nil})
	}
}

// refused judges a refusal: only who lost its state, was dropped or is not the
// newest process may be refused for ever.
func (g *group) refused(m *machine, why *ClaimError) {
	n, member := g.state.Node(m.name)
	right := false
	switch why.Case {
	case ClaimStateMissing:
		right = member && m.raftID == 0
	case ClaimDropped:
		right = g.state.Removed(m.raftID)
	case ClaimStale:
		right = !member || n.RaftID != m.raftID || m.counter <= n.Counter
	}
	if !right {
		g.t.Fatalf("%+v is refused: %v", m, why)
	}
	m.runs = false
}

func (g *group) promote() {
	m := g.draw("promoted")
	n, ok := g.state.Node(m.name)
	if !ok || n.Role == catalog.Voter {
		return
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: n.ID, RaftId: n.RaftID}}}
	g.propose(proposed{stepCommand(step), memberChange(pb.ConfChangeAddNode, n.RaftID)})
}

// drop removes a member that does not run, as the leader on the first machine that
// may lead.
func (g *group) drop() {
	m := g.draw("dropped")
	n, ok := g.state.Node(m.name)
	if !ok {
		return
	}
	members := map[uint64]memberProgress{}
	var leader uint64
	for _, other := range g.machines {
		x, member := g.state.Node(other.name)
		if !member {
			continue
		}
		members[x.RaftID] = memberProgress{active: other.runs && other.raftID == x.RaftID}
		if leader == 0 && x.Role == catalog.Voter && members[x.RaftID].active {
			leader = x.RaftID
		}
	}
	if refused, _ := judgeDrop(g.state, n, leader, members); leader == 0 || refused != nil {
		return
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: n.ID, RaftId: n.RaftID}}}
	g.propose(proposed{stepCommand(step), memberChange(pb.ConfChangeRemoveNode, n.RaftID)})
}

// law `membership`: whatever sequence of joins, restarts, wipes, promotions and
// drops there is, with commands that apply late and twice, raft's configuration is
// that of the node records, has a voter, and never gives a raft id twice.
func TestLawMembership(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGroup(t)
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch rapid.IntRange(0, 9).Draw(t, "operation") {
			case 0, 1, 2, 3:
				g.claim()
			case 4:
				g.promote()
			case 5:
				g.drop()
			case 6:
				g.draw("stopped").runs = false
			case 7:
				g.start(g.draw("restarted"))
			case 8:
				m := g.draw("wiped")
				*m = machine{name: m.name}
				g.start(m)
			default:
				if n := len(g.pending); n > 0 {
					p := g.pending[n-1]
					g.pending = g.pending[:n-1]
					g.apply(p)
				}
			}
		}
	})
}
