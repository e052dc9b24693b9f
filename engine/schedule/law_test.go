package schedule_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/placement"
	"plexus/engine/schedule"
	"plexus/nspl/vocab"
)

// draw makes an input: operators with groups, what ran before, nodes in any
// state.
func draw(t *rapid.T) schedule.Input {
	in := schedule.Input{Domain: rapid.SampledFrom([]string{"d", "e", "f"}).Draw(t, "domain"), Load: map[string]int{}}
	for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
		in.Nodes = append(in.Nodes, schedule.Node{
			ID: fmt.Sprintf("n%d", i), Live: rapid.IntRange(0, 3).Draw(t, "live") > 0, Voter: rapid.IntRange(0, 5).Draw(t, "voter") > 0,
			Cordoned: rapid.IntRange(0, 4).Draw(t, "cordoned") == 0, Terminating: rapid.IntRange(0, 6).Draw(t, "terminating") == 0,
		})
		in.Load[in.Nodes[i].ID] = rapid.IntRange(0, 6).Draw(t, "load")
	}
	count := rapid.IntRange(0, 9).Draw(t, "operators")
	for i := range count {
		o := schedule.Operator{
			Key: placement.Key{Kind: vocab.EntityJunction, Name: fmt.Sprintf("o%d", i)}, Depth: rapid.IntRange(0, 4).Draw(t, "depth"),
			Everywhere: rapid.IntRange(0, 5).Draw(t, "everywhere") == 0, Stateful: rapid.Bool().Draw(t, "stateful"),
		}
		for j := range i {
			switch rapid.IntRange(0, 5).Draw(t, "relation") {
			case 0:
				o.Upstream = append(o.Upstream, j)
			case 1:
				o.Partners = append(o.Partners, placement.Partner{Operator: j, Score: rapid.SampledFrom([]int{-1, 1}).Draw(t, "score")})
			}
		}
		in.Operators = append(in.Operators, o)
		if rapid.Bool().Draw(t, "previous") {
			in.Previous = append(in.Previous, previous(t, &o))
		}
	}
	in.Groups = groups(t, &in)
	in.ReplicaCount = rapid.IntRange(0, 2).Draw(t, "replicas")
	if rapid.IntRange(0, 3).Draw(t, "scheduler") == 0 {
		seed := rapid.Uint64().Draw(t, "seed")
		in.Random = &seed
	}
	return in
}

// previous draws an assignment, perhaps to nodes that are gone.
func previous(t *rapid.T, o *schedule.Operator) schedule.Assignment {
	a := schedule.Assignment{Key: o.Key, Everywhere: o.Everywhere}
	if o.Everywhere {
		return a
	}
	node := rapid.SampledFrom([]string{"n0", "n1", "n2", "n3", "n4", "gone"})
	nodes := rapid.SliceOfNDistinct(node, 1, 3, rapid.ID[string]).Draw(t, "previous nodes")
	a.Primary = nodes[0]
	if o.Stateful {
		a.Replicas = nodes[1:]
	}
	if rapid.IntRange(0, 5).Draw(t, "unassigned") == 0 {
		a.Primary = ""
	}
	return a
}

func groups(t *rapid.T, in *schedule.Input) [][]int {
	of := map[int][]int{}
	for i := range in.Operators {
		if g := rapid.IntRange(0, 3).Draw(t, "group"); g > 0 && !in.Operators[i].Everywhere {
			of[g] = append(of[g], i)
		}
	}
	var list [][]int
	for g := 1; g <= 3; g++ {
		if len(of[g]) > 1 {
			list = append(list, of[g])
		}
	}
	return list
}

func node(in *schedule.Input, id string) *schedule.Node {
	at := slices.IndexFunc(in.Nodes, func(n schedule.Node) bool { return n.ID == id })
	if at < 0 {
		return &schedule.Node{}
	}
	return &in.Nodes[at]
}

func before(in *schedule.Input, i int) schedule.Assignment {
	for _, a := range in.Previous {
		if a.Key == in.Operators[i].Key {
			return a
		}
	}
	return schedule.Assignment{}
}

// units lists groups and single operators.
func units(in *schedule.Input) (list [][]int) {
	list = append(list, in.Groups...)
	for i := range in.Operators {
		if !in.Operators[i].Everywhere && !slices.ContainsFunc(in.Groups, func(g []int) bool { return slices.Contains(g, i) }) {
			list = append(list, []int{i})
		}
	}
	return list
}

// TestPlan is the law "scheduler" but for load, and SC1 to SC6.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		r := schedule.Plan(in)
		if len(r.Assignments) != len(in.Operators) || len(r.Hosts) != len(in.Groups) {
			t.Fatalf("%d assignments, %d hosts", len(r.Assignments), len(r.Hosts))
		}
		candidates := slices.ContainsFunc(in.Nodes, func(n schedule.Node) bool { return n.Candidate() })
		for _, u := range units(&in) {
			checkUnit(t, &in, &r, u, candidates)
		}
		for i, a := range r.Assignments {
			if a.Key != in.Operators[i].Key || a.Everywhere != in.Operators[i].Everywhere {
				t.Fatalf("assignment %d is of %s", i, a.Key)
			}
			checkReplicas(t, &in, i, a)
		}
		for g, host := range r.Hosts {
			if host != r.Assignments[in.Groups[g][0]].Primary {
				t.Fatalf("group %d is said to be on '%s'", g, host)
			}
		}
		checkMoves(t, &in, &r)
		checkOrder(t, in, &r)
		in.Previous = r.Assignments
		if again := schedule.Plan(in); len(again.Moves) > 0 {
			t.Fatalf("a second plan moves %v", again.Moves)
		}
	})
}

func checkUnit(t *rapid.T, in *schedule.Input, r *schedule.Result, u []int, candidates bool) {
	owner := r.Assignments[u[0]].Primary
	var stay []string
	for _, m := range u {
		if r.Assignments[m].Primary != owner {
			t.Fatalf("unit %v is on '%s' and '%s'", u, owner, r.Assignments[m].Primary)
		}
		if p := before(in, m).Primary; node(in, p).Holds() && !slices.Contains(stay, p) {
			stay = append(stay, p)
		}
	}
	switch {
	case len(stay) == 1 && owner != stay[0]:
		t.Fatalf("unit %v moved from %s to '%s'", u, stay[0], owner)
	case len(stay) == 1:
	case owner == "" && candidates:
		t.Fatalf("unit %v is unassigned beside a candidate", u)
	case owner != "" && !node(in, owner).Candidate():
		t.Fatalf("unit %v landed on %s, which takes nothing", u, owner)
	case len(stay) > 1:
		checkConsolidated(t, in, u, owner)
	case len(u) == 1 && owner != "":
		for _, replica := range before(in, u[0]).Replicas {
			if node(in, replica).Candidate() {
				if owner != replica {
					t.Fatalf("%v went to %s, not to its replica on %s", u, owner, replica)
				}
				break
			}
		}
	}
}

// checkConsolidated: no candidate holds more members of a group than the one it
// came together on.
func checkConsolidated(t *rapid.T, in *schedule.Input, u []int, owner string) {
	count := map[string]int{}
	for _, m := range u {
		count[before(in, m).Primary]++
	}
	for i := range in.Nodes {
		if n := &in.Nodes[i]; n.Candidate() && owner != "" && count[n.ID] > count[owner] {
			t.Fatalf("group %v came together on %s, though %s holds more of it", u, owner, n.ID)
		}
	}
}

func checkReplicas(t *rapid.T, in *schedule.Input, i int, a schedule.Assignment) {
	switch {
	case a.Everywhere && (a.Primary != "" || len(a.Replicas) > 0):
		t.Fatalf("%s is everywhere and on %v", a.Key, a)
	case !in.Operators[i].Stateful && len(a.Replicas) > 0:
		t.Fatalf("%s keeps no state and has replicas", a.Key)
	case a.Primary == "":
		return
	case len(a.Replicas) > in.ReplicaCount:
		t.Fatalf("%s has %d replicas", a.Key, len(a.Replicas))
	}
	old := before(in, i)
	for j, n := range a.Replicas {
		held := old.Primary == n || slices.Contains(old.Replicas, n)
		if n == a.Primary || slices.Contains(a.Replicas[:j], n) || !node(in, n).Holds() || !held && !node(in, n).Candidate() {
			t.Fatalf("%s has replicas %v beside %s", a.Key, a.Replicas, a.Primary)
		}
		if !held {
			continue
		}
		for _, earlier := range a.Replicas[:j] {
			if earlier != old.Primary && !slices.Contains(old.Replicas, earlier) {
				t.Fatalf("%s: replica %s is new and stands before %s", a.Key, earlier, n)
			}
		}
	}
	free := 0
	for k := range in.Nodes {
		if n := &in.Nodes[k]; n.Candidate() && n.ID != a.Primary && !slices.Contains(a.Replicas, n.ID) {
			free++
		}
	}
	if in.Operators[i].Stateful && !a.Everywhere && len(a.Replicas) < in.ReplicaCount && free > 0 {
		t.Fatalf("%s lacks replicas beside a candidate", a.Key)
	}
}

func checkMoves(t *rapid.T, in *schedule.Input, r *schedule.Result) {
	var moves []schedule.Move
	for i, a := range r.Assignments {
		if old := before(in, i); old.Primary != "" && old.Primary != a.Primary && !a.Everywhere {
			moves = append(moves, schedule.Move{
				Operator: i, From: old.Primary, To: a.Primary, Lost: !node(in, old.Primary).Holds(), Promoted: slices.Contains(old.Replicas, a.Primary),
			})
		}
	}
	if !reflect.DeepEqual(moves, r.Moves) {
		t.Fatalf("moves %v, not %v", r.Moves, moves)
	}
}

// checkOrder: what is listed in another order gives the same plan.
func checkOrder(t *rapid.T, in schedule.Input, r *schedule.Result) {
	in.Nodes, in.Previous = slices.Clone(in.Nodes), slices.Clone(in.Previous)
	slices.Reverse(in.Nodes)
	slices.Reverse(in.Previous)
	if again := schedule.Plan(in); !reflect.DeepEqual(*r, again) {
		t.Fatalf("another order gives another plan:\n%v\n%v", *r, again)
	}
}

// TestLoadIsGreedy: units without neighbours go where the load is least, as a
// reference that knows nothing else places them.
func TestLoadIsGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		in.Random, in.ReplicaCount = nil, 0
		for i := range in.Nodes {
			in.Nodes[i] = schedule.Node{ID: in.Nodes[i].ID, Live: true, Voter: true}
		}
		for i := range in.Operators {
			in.Operators[i].Upstream, in.Operators[i].Partners, in.Operators[i].Stateful = nil, nil, false
			in.Operators[i].Depth = i // written order is canonical order
		}
		// Which node a spread group comes together on follows from its members, and a tie
		// elsewhere decides about the load there.
		in.Previous = slices.DeleteFunc(in.Previous, func(a schedule.Assignment) bool {
			return slices.ContainsFunc(in.Groups, func(g []int) bool {
				return slices.ContainsFunc(g, func(m int) bool { return in.Operators[m].Key == a.Key })
			})
		})
		for i := range in.Previous {
			in.Previous[i].Replicas = nil
		}
		if len(in.Nodes) == 0 {
			return
		}
		loads := map[string]int{}
		schedule.Load(loads, schedule.Plan(in).Assignments)
		var got, want []int
		for i := range in.Nodes {
			got = append(got, loads[in.Nodes[i].ID]+in.Load[in.Nodes[i].ID])
		}
		want = greedy(&in)
		slices.Sort(got)
		slices.Sort(want)
		for i := range got {
			if d := got[i] - want[i]; d > 2 || d < -2 {
				t.Fatalf("loads %v, the reference has %v", got, want)
			}
		}
	})
}

// greedy returns the loads of a reference: what stays stays, then one unit after
// the other goes to a least loaded node, groups first.
func greedy(in *schedule.Input) []int {
	load := make([]int, len(in.Nodes))
	for i := range in.Nodes {
		load[i] = in.Load[in.Nodes[i].ID]
	}
	var open [][]int
	for _, u := range units(in) {
		stays := slices.IndexFunc(in.Nodes, func(n schedule.Node) bool { return n.ID == before(in, u[0]).Primary })
		if len(u) == 1 && stays >= 0 {
			load[stays] += 2
		} else {
			open = append(open, u)
		}
	}
	slices.SortStableFunc(open, func(a, b []int) int {
		if (len(a) > 1) != (len(b) > 1) {
			return len(b) - len(a)
		}
		return a[0] - b[0]
	})
	for _, u := range open {
		best := 0
		for n := range in.Nodes {
			if load[n] < load[best] {
				best = n
			}
		}
		load[best] += 2 * len(u)
	}
	return load
}
