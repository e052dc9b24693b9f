package decide

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/catalog"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// TestScheduleFollowsThePipeline: neighbours share a node, listeners are
// everywhere, and what is committed stands.
func TestScheduleFollowsThePipeline(t *testing.T) {
	s := newCluster(t, "n1", pipeline)
	a, shown := s.schedule()
	s.expect("alone", shown, "a=n1 b=n1 c=n1 d=n1 x=n1 i=n1 l=* j=n1 k=n1 m=n1 e=n1 f=n1")
	if len(a.Moves) > 0 || a.Level() != Dynamic || !a.Boundary().Empty() {
		t.Errorf("the first schedule moves %v", a.Moves)
	}
	if again, _ := s.schedule(); again.Step != nil {
		t.Error("a schedule that stands is committed again")
	}
}

// TestNewRuleBringsTogether: a rule that joins a spread group moves it, in a
// running domain under a hold of what feeds it.
func TestNewRuleBringsTogether(t *testing.T) {
	s := newCluster(t, "n1 n2", pipeline)
	s.node("n2").Cordoned = true
	s.schedule()
	s.node("n1").Cordoned, s.node("n2").Cordoned = true, false
	s.run("d", "CREATE RELAY g SCHEMA s UNBRANCHED", junction("o", "x", "g"))
	_, shown := s.schedule()
	s.expect("spread", shown, "a=n1 b=n1 c=n1 d=n1 g=n2 x=n1 i=n1 l=* j=n1 k=n1 m=n1 o=n2 e=n1 f=n1")
	s.node("n1").Cordoned = false
	s.start()
	s.run("d", "CREATE PLACEMENT p FROM m TO g REQUIRE COLOCATION")
	a, shown := s.schedule()
	s.expect("together", shown, "a=n1 b=n1 c=n1 d=n1 g=n1 x=n1 i=n1 l=* j=n1 k=n1 m=n1 o=n1 e=n1 f=n1")
	if a.Level() != EntityPause || len(a.Moves) != 2 {
		t.Errorf("level %s, moves %v", a.Level(), a.Moves)
	}
	b := a.Boundary()
	s.expect("drain", keysText(b.Drain), "g x o")
	s.expect("gates", strings.Join(b.Gates, " "), "x")
	committed, _ := s.state.Schedule("d")
	if g := committed.Groups; len(g) != 1 || g[0].Host != "n1" || keysText(g[0].Members) != "g x m o" {
		t.Errorf("groups %+v", g)
	}
	m, _ := committed.Assignment(catalog.Key{Kind: vocab.EntityJunction, Name: "o"})
	if tr := m.Transition; tr.From != "n2" || tr.To != "n1" || tr.Cause != CausePlanned || tr.ID[6]>>4 != 8 {
		t.Errorf("transition %+v", tr)
	}
	// What changes next keeps the transition; dropping the rule spreads nothing.
	s.run("d", "DROP PLACEMENT p")
	a, _ = s.schedule()
	if len(a.Moves) > 0 || len(a.Schedule.Groups) > 0 || a.Step == nil {
		t.Errorf("dropping the rule: %+v", a)
	}
	now, _ := s.state.Schedule("d")
	if after, _ := now.Assignment(m.Key); after.Transition.ID != m.Transition.ID {
		t.Errorf("transition %+v", after.Transition)
	}
}

func junction(name, from, to string) string {
	return fmt.Sprintf("CREATE JUNCTION %s FROM %s UNBRANCHED TO %s INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", name, from, to)
}

// TestFailoverIsForced: a lost owner hands over nothing, and every transition is
// another one.
func TestFailoverIsForced(t *testing.T) {
	s := newCluster(t, "n1 n2 n3", "i>a a>e")
	s.cluster.ReplicaCount = 1
	s.node("n2").Cordoned, s.node("n3").Cordoned = true, true
	s.schedule()
	s.start()
	s.node("n2").Cordoned, s.node("n3").Cordoned = false, false
	s.schedule()
	seen := map[string]bool{}
	for range 4 {
		before, _ := s.state.Schedule("d")
		in, _ := before.Assignment(catalog.Key{Kind: vocab.EntityIngestor, Name: "i"})
		s.node(in.Primary).Live = false
		a, _ := s.schedule()
		if a.Level() != Dynamic || !a.Boundary().Empty() || len(a.Moves) != 3 || !a.Moves[1].Lost || !a.Moves[1].Promoted {
			t.Fatalf("moves %+v", a.Moves)
		}
		now, _ := s.state.Schedule("d")
		after, _ := now.Assignment(in.Key)
		id := after.Transition.ID.String()
		if after.Primary != in.Replicas[0] || after.Transition.Cause != CauseForced || seen[id] {
			t.Fatalf("%+v after %+v", after, in)
		}
		seen[id] = true
		s.node(in.Primary).Live = true
		s.schedule()
	}
}

// TestOutcomes go into the schedule that names their transitions.
func TestOutcomes(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a")
	s.on("n1")
	s.node("n1").Live = false
	a, refused := Schedule(s.state, "d", s.cluster)
	if refused != nil {
		t.Fatal(refused)
	}
	id := a.Schedule.Assignments[1].Transition.ID
	// What an attempt took back is not what the next one prepares.
	next := s.cluster
	next.Attempt++
	if other, _ := Schedule(s.state, "d", next); other.Schedule.Assignments[1].Transition.ID == id {
		t.Error("two attempts are the same transition")
	}
	a.SetOutcomes(map[primitives.UUID][]catalog.Outcome{id: {{Component: 3}}, {9}: {{Component: 1}}})
	s.apply(a.Step)
	committed, _ := s.state.Schedule("d")
	for i, want := range []int{0, 1} {
		if got := committed.Assignments[i].Transition.Outcomes; len(got) != want {
			t.Errorf("%s has outcomes %v", committed.Assignments[i].Key, got)
		}
	}
	if again, _ := Schedule(s.state, "d", s.cluster); again.Step != nil {
		t.Error("outcomes make a schedule look like another")
	}
}

// TestNobodyLeft: what no node can take is listed, and taken up later as a forced
// recovery.
func TestNobodyLeft(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a")
	s.node("n2").Cordoned = true
	s.schedule()
	s.node("n1").Live = false
	a, shown := s.schedule()
	s.expect("nobody", shown, "a= i=(n1)")
	s.expect("unassigned", keysText(a.Unassigned), "a i")
	s.node("n2").Cordoned = false
	_, shown = s.schedule()
	s.expect("n2 takes over", shown, "a=n2 i=n2")
	now, _ := s.state.Schedule("d")
	if tr := now.Assignments[0].Transition; tr.From != "" || tr.To != "n2" || tr.Cause != CauseForced {
		t.Errorf("%+v", tr)
	}
}

// TestStranded: a rule that no node could follow is refused, not half obeyed.
func TestStranded(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a a>j>b")
	s.cluster.Random = new(uint64)
	for s.schedule(); ; s.schedule() {
		committed, _ := s.state.Schedule("d")
		if a := committed.Assignments; a[0].Primary != a[3].Primary {
			break
		}
		*s.cluster.Random++
		s = &clustered{T: t, state: newCluster(t, "n1 n2", "i>a a>j>b").state, cluster: s.cluster}
	}
	s.run("d", "CREATE PLACEMENT p FROM a TO j REQUIRE COLOCATION")
	s.node("n1").Cordoned, s.node("n2").Cordoned = true, true
	_, refused := Schedule(s.state, "d", s.cluster)
	if refused == nil || refused.Code != CodeNode || !strings.Contains(refused.Message, "no node can take") {
		t.Errorf("%v", refused)
	}
}

// TestDefaultPlacement: the default of the domain joins what is connected.
func TestDefaultPlacement(t *testing.T) {
	s := newCluster(t, "n1 n2 n3", "i>a a>j>b b>e", "CREATE PLACEMENT cut FROM b TO e NEUTRAL")
	s.cluster.Random = new(uint64)
	s.run("d", "ALTER DOMAIN SET PLACEMENT REQUIRE COLOCATION")
	a, _ := s.schedule()
	if len(a.Schedule.Groups) != 1 || keysText(a.Schedule.Groups[0].Members) != "a b i j" {
		t.Errorf("groups %+v", a.Schedule.Groups)
	}
}

// TestLoadOfOtherDomains counts: a second domain goes where the first is not.
func TestLoadOfOtherDomains(t *testing.T) {
	s := newCluster(t, "n1 n2", "i>a a>e")
	s.domain("other")
	s.run("other", definitions("i>a a>e")...)
	s.schedule()
	first, _ := s.state.Schedule("d")
	a, refused := Schedule(s.state, "other", s.cluster)
	if refused != nil || a.Schedule.Assignments[0].Primary == first.Assignments[0].Primary {
		t.Errorf("%+v, %v", a.Schedule, refused)
	}
}

// TestPlansNameTheirOwner: a plan says who executes what; without an entry it is
// nobody.
func TestPlansNameTheirOwner(t *testing.T) {
	s := newCluster(t, "n1", "i>a l>a a>j>b b>e")
	s.schedule()
	s.run("d", junction("later", "a", "b"))
	r, err := Plan(s.state, "d")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(r.Relays[0].Placement, r.Ingestors[0].Placement, r.Ingestors[1].Placement, r.Junctions[0].Placement,
		r.Junctions[1].Placement, r.Emitters[0].Placement)
	s.expect("owners", got, "{n1 false} {n1 false} { true} {n1 false} {? false} {n1 false}")
}

// TestEqualSchedulesAreNotCommitted, whatever the order of nodes.
func TestScheduleIsDeterministic(t *testing.T) {
	a, b := newCluster(t, "n1 n2 n3", pipeline), newCluster(t, "n1 n2 n3", pipeline)
	b.cluster.Nodes[0], b.cluster.Nodes[2] = b.cluster.Nodes[2], b.cluster.Nodes[0]
	_, first := a.schedule()
	_, second := b.schedule()
	a.expect("another order", second, first)
}

// BenchmarkSchedule500 plans a domain of 500 operators on 9 nodes.
func BenchmarkSchedule500(b *testing.B) {
	var words []string
	for i := range 100 {
		words = append(words, fmt.Sprintf("i%d>r%d r%d>j%d>s%d s%d>e%d", i, i, i, i, i, i, i))
	}
	s := newCluster(new(testing.T), "n1 n2 n3 n4 n5 n6 n7 n8 n9", strings.Join(words, " "))
	b.ReportAllocs()
	for b.Loop() {
		if _, refused := Schedule(s.state, "d", s.cluster); refused != nil {
			b.Fatal(refused)
		}
	}
}
