package decide

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// TestMovers draws a domain with rules and a cluster, then lets nodes come and go
// and work move. After every step groups are whole, a mover changed its members
// and nothing else, and no two transitions are called alike.
func TestMovers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &movers{rt: rt, clustered: newCluster(t, "n1 n2 n3 n4", drawGraph(rt)), seen: map[string]bool{}}
		m.cluster.ReplicaCount = rapid.IntRange(0, 2).Draw(rt, "replicas")
		m.rules()
		m.start()
		m.settle()
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				m.flip()
				if rapid.Bool().Draw(rt, "settles") {
					m.settle()
				}
			case 1:
				m.move()
			case 2:
				m.drain()
			case 3:
				m.rule()
				m.settle()
			}
			m.check()
		}
	})
}

type movers struct {
	*clustered
	rt   *rapid.T
	seen map[string]bool
}

// drawGraph draws junctions between relays in layers, with sources and sinks.
func drawGraph(rt *rapid.T) string {
	relay := func(layer int) string { return fmt.Sprintf("r%d", layer*2+rapid.IntRange(0, 1).Draw(rt, "relay")) }
	words := []string{"i1>r0", "l1>" + relay(0), "r6>e1"}
	for i := range rapid.IntRange(2, 7).Draw(rt, "junctions") {
		layer := rapid.IntRange(0, 2).Draw(rt, "layer")
		words = append(words, fmt.Sprintf("%s>j%d>%s", relay(layer), i, relay(layer+1)))
	}
	return strings.Join(words, " ")
}

// operators lists what the domain executes.
func (m *movers) operators() (keys []catalog.Key) {
	for model := range m.state.Models("d") {
		if Executes(model.Kind) && !listener(model.Definition) {
			keys = append(keys, model.Key)
		}
	}
	return keys
}

func (m *movers) operator() catalog.Key {
	return rapid.SampledFrom(m.operators()).Draw(m.rt, "operator")
}

func (m *movers) rules() {
	for range rapid.IntRange(0, 2).Draw(m.rt, "rules") {
		m.rule()
	}
}

// rule adds a rule of a rank of its own, so that none is in conflict.
func (m *movers) rule() {
	rank := 1
	for model := range m.state.Models("d") {
		if model.Kind == vocab.EntityPlacement {
			rank++
		}
	}
	m.run("d", fmt.Sprintf("CREATE PLACEMENT p%d FROM %s TO %s %s RANK %d", rank, m.operator().Name, m.operator().Name,
		rapid.SampledFrom(vocab.PlacementPolicies()).Draw(m.rt, "policy"), rank))
}

// flip changes what one node can do, but leaves one that takes work.
func (m *movers) flip() {
	n := &m.cluster.Nodes[rapid.IntRange(1, 3).Draw(m.rt, "node")]
	switch rapid.IntRange(0, 2).Draw(m.rt, "flag") {
	case 0:
		n.Live = !n.Live
	case 1:
		n.Cordoned = !n.Cordoned
	case 2:
		n.Terminating = !n.Terminating
	}
}

// settle commits the schedule that the domain should have.
func (m *movers) settle() {
	a, refused := Schedule(m.state, "d", m.cluster)
	if refused != nil {
		m.rt.Fatal(refused)
	}
	m.took(a)
	if again, _ := Schedule(m.state, "d", m.cluster); again.Step != nil {
		m.rt.Fatal("a schedule that was committed does not stand")
	}
}

// took commits a plan and checks its moves against what changed.
func (m *movers) took(a *Assigned) {
	before, _ := m.state.Schedule("d")
	m.checkBoundary(a)
	m.commit(a)
	now, _ := m.state.Schedule("d")
	for i := range now.Assignments {
		x := &now.Assignments[i]
		old, ok := before.Assignment(x.Key)
		moved := ok && old.Primary != x.Primary
		if moved != slices.ContainsFunc(a.Moves, func(mv Move) bool { return mv.Key == x.Key }) && old.Primary != "" {
			m.rt.Fatalf("%s moved: %v, moves %v", x.Key, moved, a.Moves)
		}
		if !moved {
			continue
		}
		if id := x.Transition.ID.String(); m.seen[id] {
			m.rt.Fatalf("transition %s happened before", id)
		} else {
			m.seen[id] = true
		}
	}
}

// checkBoundary: what moves under a hold is drained, and every relay that feeds it
// or belongs to it is gated exactly if something outside fills it.
func (m *movers) checkBoundary(a *Assigned) {
	c, _ := NewCandidate(m.state, "d")
	moving := map[catalog.Key]bool{}
	for _, mv := range a.Moves {
		if !mv.Lost {
			moving[mv.Key] = true
		}
	}
	b := a.Boundary()
	for key := range moving { //plexus:orderfree each is checked
		if !slices.Contains(b.Drain, key) {
			m.rt.Fatalf("%s moves and is not drained", key)
		}
	}
	for i := range c.entries {
		relay := c.entries[i].key
		if relay.Kind != vocab.EntityRelay {
			continue
		}
		touched, outside := moving[relay], false
		for j := range c.entries {
			reads, writes := flows(c.entries[j].entity)
			has := func(n ast.Name) bool { return n.Text == relay.Name }
			touched = touched || moving[c.entries[j].key] && slices.ContainsFunc(reads, has)
			outside = outside || !moving[c.entries[j].key] && slices.ContainsFunc(writes, has)
		}
		if gated := slices.Contains(b.Gates, relay.Name); gated != (touched && outside) {
			m.rt.Fatalf("%s gated: %v, touched: %v, filled from outside: %v", relay, gated, touched, outside)
		}
	}
}

// move relocates something onto some node.
func (m *movers) move() {
	prefer := rapid.SampledFrom([]string{"FOLLOW", "IGNORE"}).Draw(m.rt, "preferences")
	onto := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"}).Draw(m.rt, "onto")
	selection := m.operator().String()
	if rapid.Bool().Draw(m.rt, "corridor") {
		selection = "FROM " + selection + " TO " + m.operator().String()
	}
	text := strings.ReplaceAll(fmt.Sprintf("%s ONTO NODE %s %s PREFERENCES", selection, onto, prefer), "'", "")
	before := m.snapshot()
	r, shown := m.relocate(text)
	if r == nil {
		if n := m.node(onto); n.Candidate() && strings.Contains(shown, "node '"+onto+"' ") && !strings.Contains(shown, "owner") {
			m.rt.Fatalf("%s: %s", text, shown)
		}
		return
	}
	m.took(&r.Assigned)
	members := map[catalog.Key]bool{}
	for _, x := range r.Members {
		members[x.Key] = true
	}
	m.unchanged(before, members)
	now := m.snapshot()
	for key := range members { //plexus:orderfree each is checked
		if now[key].Primary != onto {
			m.rt.Fatalf("%s is on %s after %s", key, now[key].Primary, text)
		}
	}
}

// drain moves the units of a node away, as far as they can.
func (m *movers) drain() {
	n := &m.cluster.Nodes[rapid.IntRange(1, 3).Draw(m.rt, "drained")]
	n.Cordoned = true
	for _, u := range DrainOrder(m.state, n.ID) {
		before := m.snapshot()
		a, refused := Evacuate(m.state, u, m.cluster)
		if refused != nil {
			m.rt.Fatalf("n1 takes everything: %v", refused)
		}
		m.took(a)
		members := map[catalog.Key]bool{}
		for _, k := range u.Members {
			members[k] = true
		}
		m.unchanged(before, members)
	}
	if left := DrainOrder(m.state, n.ID); len(left) > 0 {
		m.rt.Fatalf("%s still owns %v", n.ID, left)
	}
}

func (m *movers) snapshot() map[catalog.Key]catalog.Assignment {
	all := map[catalog.Key]catalog.Assignment{}
	s, _ := m.state.Schedule("d")
	for _, a := range s.Assignments {
		all[a.Key] = a
	}
	return all
}

func (m *movers) unchanged(before map[catalog.Key]catalog.Assignment, members map[catalog.Key]bool) {
	now := m.snapshot()
	for key, a := range before { //plexus:orderfree each is checked
		if !members[key] && !reflect.DeepEqual(a, now[key]) {
			m.rt.Fatalf("%s changed from %+v to %+v", key, a, now[key])
		}
	}
}

// check: groups are whole, and listeners are everywhere.
func (m *movers) check() {
	s, _ := m.state.Schedule("d")
	for _, g := range s.Groups {
		for _, k := range g.Members {
			if a, _ := s.Assignment(k); a.Primary != g.Host {
				m.rt.Fatalf("%s is on '%s', its group on '%s'", k, a.Primary, g.Host)
			}
		}
	}
	for _, a := range s.Assignments {
		if a.Everywhere != (a.Key == catalog.Key{Kind: vocab.EntityIngestor, Name: "l1"}) {
			m.rt.Fatalf("%s is everywhere: %v", a.Key, a.Everywhere)
		}
	}
}
