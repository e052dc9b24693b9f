package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plexus/engine/placement"
	"plexus/engine/schedule"
	"plexus/nspl/vocab"
)

// chain is i -> r -> j -> s -> e, an ordinary pipeline.
func chain() []schedule.Operator {
	key := func(kind vocab.EntityKind, name string) placement.Key { return placement.Key{Kind: kind, Name: name} }
	return []schedule.Operator{
		{Key: key(vocab.EntityRelay, "r"), Depth: 1, Upstream: []int{2}},
		{Key: key(vocab.EntityRelay, "s"), Depth: 3, Upstream: []int{3}},
		{Key: key(vocab.EntityIngestor, "i"), Depth: 0},
		{Key: key(vocab.EntityJunction, "j"), Depth: 2, Upstream: []int{0}},
		{Key: key(vocab.EntityEmitter, "e"), Depth: 4, Upstream: []int{1}},
	}
}

func live(ids ...string) (nodes []schedule.Node) {
	for _, id := range ids {
		nodes = append(nodes, schedule.Node{ID: id, Live: true, Voter: true})
	}
	return nodes
}

// show prints the primaries with their replicas.
func show(r schedule.Result) string {
	var b strings.Builder
	for _, a := range r.Assignments {
		fmt.Fprintf(&b, "%s=%s", a.Name, a.Primary)
		if a.Everywhere {
			b.WriteString("*")
		}
		if len(a.Replicas) > 0 {
			fmt.Fprintf(&b, "(%s)", strings.Join(a.Replicas, ","))
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func check(t *testing.T, what string, r schedule.Result, want string) {
	t.Helper()
	if got := show(r); got != want {
		t.Errorf("%s: %s, not %s", what, got, want)
	}
}

// TestLocality keeps a pipeline on one node; load decides between pipelines.
func TestLocality(t *testing.T) {
	in := schedule.Input{Domain: "d", Operators: chain(), Nodes: live("a", "b", "c"), Load: map[string]int{"a": 3, "b": 2, "c": 3}}
	check(t, "a pipeline", schedule.Plan(in), "r=b s=b i=b j=b e=b")
	in.Load["b"] = 3
	host := schedule.Plan(in).Assignments[0].Primary
	in.Domain = "other"
	elsewhere := map[string]bool{host: true}
	for i := range 20 {
		in.Domain = fmt.Sprint(i)
		elsewhere[schedule.Plan(in).Assignments[0].Primary] = true
	}
	if len(elsewhere) != 3 {
		t.Errorf("rotation: all domains begin on %v", elsewhere)
	}
}

// TestPreferences: partners weigh more than locality.
func TestPreferences(t *testing.T) {
	ops := chain()
	ops[3].Partners = []placement.Partner{{Operator: 0, Score: -1}}
	ops[4].Partners = []placement.Partner{{Operator: 0, Score: 1}}
	in := schedule.Input{Domain: "d", Operators: ops, Nodes: live("a", "b"), Load: map[string]int{"b": 1}}
	check(t, "partners", schedule.Plan(in), "r=a s=b i=a j=b e=a")
}

// TestMovesNothing: joins, uncordons, models and preferences leave what runs.
func TestMovesNothing(t *testing.T) {
	in := schedule.Input{Domain: "d", Operators: chain(), Nodes: live("a")}
	r := schedule.Plan(in)
	in.Previous = r.Assignments
	in.Nodes = live("a", "b", "c")
	in.Nodes[0].Cordoned, in.Nodes[0].Terminating = true, true
	in.Operators[3].Partners = []placement.Partner{{Operator: 0, Score: -1}}
	in.Operators = append(in.Operators, schedule.Operator{
		Key: placement.Key{Kind: vocab.EntityEmitter, Name: "f"}, Depth: 4, Upstream: []int{1},
	})
	r = schedule.Plan(in)
	if len(r.Moves) > 0 || r.Assignments[5].Primary == "a" {
		t.Errorf("moves %v, f is on %s", r.Moves, r.Assignments[5].Primary)
	}
}

// TestFailover: the first replica that can takes over; a former primary that
// lives is the first replica.
func TestFailover(t *testing.T) {
	ops := chain()[:1]
	ops[0].Stateful, ops[0].Upstream = true, nil
	in := schedule.Input{
		Domain: "d", Operators: ops, Nodes: live("a", "b", "c", "d"), ReplicaCount: 2,
		Previous: []schedule.Assignment{{Key: ops[0].Key, Primary: "a", Replicas: []string{"c", "d"}}},
	}
	check(t, "nothing happened", schedule.Plan(in), "r=a(c,d)")
	in.Nodes[0].Live, in.Nodes[2].Cordoned = false, true
	r := schedule.Plan(in)
	check(t, "lost", r, "r=d(c,b)")
	if len(r.Moves) != 1 || !r.Moves[0].Lost || !r.Moves[0].Promoted {
		t.Errorf("moves %+v", r.Moves)
	}
	in.Nodes[0].Live, in.Away = true, []int{0}
	r = schedule.Plan(in)
	check(t, "moved away", r, "r=d(a,c)")
	if r.Moves[0].Lost {
		t.Error("an owner that lives is lost")
	}
	in.Away, in.Onto = nil, map[int]string{0: "b"}
	check(t, "moved onto", schedule.Plan(in), "r=b(a,c)")
}

// TestNobodyLeft: an operator without a candidate is unassigned, and goes back to
// where its state is.
func TestNobodyLeft(t *testing.T) {
	ops := chain()[:1]
	ops[0].Stateful, ops[0].Upstream = true, nil
	in := schedule.Input{
		Domain: "d", Operators: ops, Nodes: live("a", "b", "c"), ReplicaCount: 1,
		Previous: []schedule.Assignment{{Key: ops[0].Key, Primary: "a", Replicas: []string{"gone", "b"}}},
	}
	for i := range in.Nodes {
		in.Nodes[i].Live = false
	}
	r := schedule.Plan(in)
	check(t, "nobody", r, "r=(a,b)")
	if !slices.Equal(r.Unassigned, []int{0}) || r.Moves[0].To != "" {
		t.Errorf("%+v", r)
	}
	in.Previous, in.Nodes[2].Live, in.Nodes[1].Live = r.Assignments, true, true
	check(t, "b is back", schedule.Plan(in), "r=b(c)")
	in.Nodes[0].Live = true
	check(t, "a is back", schedule.Plan(in), "r=a(b)")
}

// TestGroups: a group comes together where most of it is, and follows its members
// to a node that takes nothing else.
func TestGroups(t *testing.T) {
	in := schedule.Input{Domain: "d", Operators: chain(), Nodes: live("a", "b", "c"), Groups: [][]int{{0, 1, 3}}}
	for i, node := range []string{"a", "b", "a", "b", "c"} {
		in.Previous = append(in.Previous, schedule.Assignment{Key: in.Operators[i].Key, Primary: node})
	}
	r := schedule.Plan(in)
	check(t, "spread", r, "r=b s=b i=a j=b e=c")
	if len(r.Moves) != 1 || r.Hosts[0] != "b" {
		t.Errorf("%+v", r)
	}
	in.Nodes[1].Cordoned = true
	check(t, "b takes nothing", schedule.Plan(in), "r=a s=a i=a j=a e=c")
	in.Previous = r.Assignments
	in.Groups[0] = append(in.Groups[0], 4)
	in.Previous = in.Previous[:4]
	check(t, "a new member", schedule.Plan(in), "r=b s=b i=a j=b e=b")
}

// TestListenersAreEverywhere and load nobody.
func TestListenersAreEverywhere(t *testing.T) {
	ops := chain()
	ops[2].Everywhere = true
	in := schedule.Input{Domain: "d", Operators: ops, Nodes: live("a", "b"), Load: map[string]int{"a": 1}}
	check(t, "listener", schedule.Plan(in), "r=b s=b i=* j=b e=b")
	in.Nodes = nil
	check(t, "no node", schedule.Plan(in), "r= s= i=* j= e=")
}

// TestRandomCrossesNodes: the seeded ranking spreads a pipeline and keeps groups.
func TestRandomCrossesNodes(t *testing.T) {
	spread := map[string]bool{}
	for seed := range uint64(20) {
		in := schedule.Input{Domain: "d", Operators: chain(), Nodes: live("a", "b", "c"), Random: &seed, Groups: [][]int{{0, 3}}}
		r := schedule.Plan(in)
		spread[show(r)] = true
		if r.Assignments[0].Primary != r.Assignments[3].Primary {
			t.Errorf("seed %d tears the group apart", seed)
		}
	}
	if len(spread) < 15 {
		t.Errorf("20 seeds make %d plans", len(spread))
	}
}

// BenchmarkPlan500 places 500 operators on 9 nodes: all of them, and after one
// node was lost.
func BenchmarkPlan500(b *testing.B) {
	in := schedule.Input{Domain: "d", ReplicaCount: 2, Load: map[string]int{}}
	for i := range 500 {
		o := schedule.Operator{Key: placement.Key{Kind: vocab.EntityJunction, Name: fmt.Sprintf("o%03d", i)}, Depth: i / 20, Stateful: i%3 == 0}
		for j := range min(i, 3) {
			o.Upstream = append(o.Upstream, i-1-j*7%i)
			o.Partners = append(o.Partners, placement.Partner{Operator: (i * 7) % 500, Score: 1})
		}
		in.Operators = append(in.Operators, o)
	}
	for i := range 40 {
		in.Groups = append(in.Groups, []int{i * 12, i*12 + 1, i*12 + 5})
	}
	in.Nodes = live("a", "b", "c", "d", "e", "f", "g", "h", "i")
	first := schedule.Plan(in)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			schedule.Plan(in)
		}
	})
	in.Previous = first.Assignments
	in.Nodes[4].Live = false
	b.Run("failover", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			schedule.Plan(in)
		}
	})
}
