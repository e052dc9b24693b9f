package quiesce

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// gatesCluster is one coordinator core and the participant cores of some nodes,
// with every message in the hands of the test.
type gatesCluster struct {
	t        *rapid.T
	now      primitives.Instant
	settings Settings
	leader   Process
	op       *operation
	nodes    []*gatesNode
	flying   []*gatesMessage // sent and not arrived
	waiting  []*gatesReply   // arrived, the answer is under way
	dead     bool            // the coordinator
	work     uint64          // what every node still has to drain
	admitted uint64
}

type gatesNode struct {
	process Process
	core    *leases
	freezes map[ID]uint64
	since   map[ID]primitives.Instant // the newest engage arrived
}

type gatesMessage struct {
	call  call
	node  int
	floor uint64
}

type gatesReply struct {
	message *gatesMessage
	answer  *answer
}

func newGatesCluster(t *rapid.T, nodes int) *gatesCluster {
	g := &gatesCluster{t: t, settings: Defaults(), leader: Process{Node: "n0", Epoch: [16]byte{9}}, work: 3}
	var names []string
	for i := range nodes {
		name := string(rune('a' + i))
		names = append(names, name)
		g.nodes = append(g.nodes, &gatesNode{
			process: Process{Node: name, Counter: 1, Epoch: [16]byte{byte(i), 1}}, core: newLeases(), freezes: map[ID]uint64{},
			since: map[ID]primitives.Instant{},
		})
	}
	scope := Scope{Domain: "orders", Purpose: ForHandoff, Gates: []string{"r"}}
	g.op = newOperation(g.settings, ID{g.leader.Node, g.leader.Epoch, 1}, scope, names, rapid.Bool().Draw(t, "freeze"))
	return g
}

// ask sends what the coordinator wants to be asked.
func (g *gatesCluster) ask() {
	if g.dead {
		return
	}
	calls, _ := g.op.next(g.now)
	for _, k := range calls {
		g.flying = append(g.flying, &gatesMessage{call: k, node: k.cell})
	}
}

// arrive lets a message reach its participant.
func (g *gatesCluster) arrive(m *gatesMessage) {
	n := g.nodes[m.node]
	r := m.call.request
	a := &answer{Epoch: n.process.Epoch}
	switch m.call.op {
	case HoldEngage:
		l, _, refusal := n.core.engage(g.now, g.leader, &r)
		if a.Refused = refusal; l != nil {
			l.closed()
			n.since[r.ID] = g.now
		}
	case HoldRelease:
		l, refusal := n.core.release(g.leader, &r)
		if a.Refused = refusal; l != nil {
			n.core.forget(l)
		}
	default:
		l, refusal := n.core.find(g.now, g.leader, &r)
		a.Refused = refusal
		if l == nil {
			break
		}
		a.Look = Look{Flushed: g.op.generation, Admitted: g.admitted}
		if g.work > 0 {
			a.Look.Blockers = []Blocker{{Work: Publishes, Count: g.work}}
		} else if r.Freeze {
			a.Freeze = 1
		}
	}
	g.waiting = append(g.waiting, &gatesReply{m, a})
}

// check is the law.
func (g *gatesCluster) check() {
	id := g.op.id
	for i, n := range g.nodes {
		l := n.core.live[id]
		if l != nil {
			n.core.expire(g.now, l)
			if l.phase == ended {
				n.core.forget(l)
				l = nil
			}
		}
		if l != nil && g.now >= n.since[id].Add(g.settings.Lease) {
			g.t.Fatalf("node %d is closed %v after its last engage", i, g.now.Sub(n.since[id]))
		}
		if g.dead {
			continue
		}
		c := &g.op.cells[i]
		certain := g.op.stage >= stageDrain && g.op.stage < stageRelease && g.now.Before(c.lease.Add(g.settings.trusted()))
		if certain && l == nil && c.epoch == n.process.Epoch {
			g.t.Fatalf("the coordinator counts on node %d in stage %d, which is open", i, g.op.stage)
		}
	}
	if g.op.stage > stageDrain && g.op.stage < stageRelease && g.work > 0 {
		g.t.Fatalf("stage %d with work left", g.op.stage)
	}
}

// take removes one element.
func take[T any](t *rapid.T, list *[]T) (v T) {
	if len(*list) == 0 {
		t.Skip("nothing is under way")
	}
	i := rapid.IntRange(0, len(*list)-1).Draw(t, "which")
	v = (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return v
}

var errLost = errors.New("lost")

// Messages that come late, twice, never, or out of order, nodes that restart and
// coordinators that vanish: while the coordinator counts on a gate it is closed,
// and no gate stays closed after its lease (gates; Q1, Q2, Q4).
func TestGates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGatesCluster(t, rapid.IntRange(1, 3).Draw(t, "nodes"))
		settled := false
		t.Repeat(map[string]func(*rapid.T){
			"arrive": func(t *rapid.T) { g.arrive(take(t, &g.flying)) },
			"twice": func(t *rapid.T) {
				m := take(t, &g.flying)
				g.flying = append(g.flying, m)
				g.arrive(m)
			},
			"answer": func(t *rapid.T) {
				r := take(t, &g.waiting)
				if !g.dead {
					g.op.answered(g.now, &r.message.call, r.answer, nil)
				}
			},
			"lose": func(t *rapid.T) {
				// The coordinator gives up waiting; the message may still arrive.
				m := take(t, &g.flying)
				if rapid.Bool().Draw(t, "late") {
					g.flying = append(g.flying, m)
				}
				if !g.dead {
					g.op.answered(g.now, &m.call, nil, errLost)
				}
			},
			"time": func(t *rapid.T) {
				g.now = g.now.Add(time.Duration(rapid.Int64Range(1, int64(5*time.Second)).Draw(t, "ns")))
			},
			"blink": func(t *rapid.T) { g.now = g.now.Add(50 * time.Millisecond) },
			"work": func(t *rapid.T) {
				if g.work > 0 {
					g.work--
					g.admitted++
				}
			},
			"settle": func(t *rapid.T) {
				if g.op.stage == stageRest {
					settled = true
					g.op.settle(g.now)
				}
			},
			"release": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "luck") == 0 || settled {
					g.op.release(g.now)
				}
			},
			"restart": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "luck") > 0 {
					return
				}
				n := rapid.SampledFrom(g.nodes).Draw(t, "node")
				n.process.Counter++
				n.process.Epoch[1]++
				n.core = newLeases()
			},
			"vanish": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
					g.dead = true
					for _, n := range g.nodes {
						l := n.core.live[g.op.id]
						n.core.departed(g.leader)
						if l != nil && l.phase != held {
							t.Fatal("the loss of its coordinator opened a gate")
						}
					}
				}
			},
			"": func(t *rapid.T) {
				g.ask()
				g.check()
			},
		})
		// What is left of it: everything open once all leases are over.
		g.now = g.now.Add(g.settings.Lease)
		for _, n := range g.nodes {
			for _, l := range n.core.live { //plexus:orderfree each for itself
				if n.core.expire(g.now, l); l.phase != ended {
					t.Fatal("a gate is closed after its lease")
				}
			}
		}
	})
}

// Without failures a hold comes to rest in a few exchanges, and ends open.
func TestGatesCalm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGatesCluster(t, 3)
		pump := func(until func() bool) {
			for range 200 {
				g.ask()
				for len(g.flying) > 0 {
					m := g.flying[0]
					g.flying = g.flying[1:]
					g.arrive(m)
				}
				for _, r := range g.waiting {
					g.op.answered(g.now, &r.message.call, r.answer, nil)
				}
				g.waiting = nil
				g.check()
				if until() {
					return
				}
				g.now = g.now.Add(50 * time.Millisecond)
				g.work -= min(g.work, 1)
			}
			t.Fatalf("stage %d, %v", g.op.stage, g.op.failure)
		}
		pump(func() bool { return g.op.stage == stageRest })
		g.op.settle(g.now)
		pump(func() bool { return g.op.stage == stageFinal })
		g.op.release(g.now)
		pump(func() bool { return g.op.stage == stageOver })
		for _, n := range g.nodes {
			if len(n.core.live) > 0 {
				t.Fatal("a gate is closed")
			}
		}
	})
}
