package placement_test

import (
	"strings"
	"testing"

	"plexus/engine/placement"
	"plexus/nspl/vocab"
)

const (
	neutral  = vocab.PlacementNeutral
	require  = vocab.PlacementRequireColocation
	prefer   = vocab.PlacementPreferColocation
	separate = vocab.PlacementSuggestSeparation
)

// line is the graph 0 -> 1 -> ... -> n-1.
func line(n int) *placement.Graph {
	w := world{n: n}
	for i := range n - 1 {
		w.edges = append(w.edges, placement.Edge{From: i, To: i + 1})
	}
	return w.graph()
}

func rule(name string, from, to int, policy vocab.PlacementPolicy, rank uint64) placement.Rule {
	return placement.Rule{Name: name, From: []int{from}, To: []int{to}, Policy: policy, Rank: rank}
}

// TestStrengthIsTheRank: NEUTRAL of a stronger rank carves a pair out of a hard
// corridor, and the members stay as long as another pair reaches them.
func TestStrengthIsTheRank(t *testing.T) {
	o, conflict := placement.Resolve(line(4), []placement.Rule{
		rule("hard", 0, 3, require, 2), rule("free", 1, 2, neutral, 1),
	}, neutral)
	if conflict != nil {
		t.Fatal(conflict)
	}
	if policy, by := o.Effective(1, 2); policy != neutral || by != 1 {
		t.Errorf("the carved out pair: %s by %d", policy, by)
	}
	if groups := o.Groups(); len(groups) != 1 || len(groups[0].Members) != 4 || len(groups[0].Pairs) != 5 {
		t.Errorf("groups %v", groups)
	}
	if o.Coverage(0) != placement.CoveragePartial || o.Coverage(1) != placement.CoverageEffective {
		t.Errorf("coverage %s, %s", o.Coverage(0), o.Coverage(1))
	}
}

// TestConflictNamesBothRules with the rank and one pair.
func TestConflictNamesBothRules(t *testing.T) {
	rules := []placement.Rule{rule("near", 0, 2, prefer, 7), rule("far", 1, 2, separate, 7)}
	_, conflict := placement.Resolve(line(3), rules, neutral)
	want := "placements 'far' (SUGGEST SEPARATION) and 'near' (PREFER COLOCATION) of rank 7 both claim JUNCTION 'b' and JUNCTION 'c'"
	if conflict == nil || conflict.Error() != want {
		t.Errorf("%v", conflict)
	}
	rules[0].Rank, rules[1].Rank = 0, 0
	if _, conflict := placement.Resolve(line(3), rules, neutral); conflict == nil || !strings.Contains(conflict.Error(), " without a rank both ") {
		t.Errorf("%v", conflict)
	}
	// A stronger rule that claims the pair ends the quarrel.
	if _, conflict := placement.Resolve(line(3), append(rules, rule("peace", 1, 2, neutral, 9)), neutral); conflict != nil {
		t.Error(conflict)
	}
}

// TestDefaultHoldsForNeighbours that no rule claims.
func TestDefaultHoldsForNeighbours(t *testing.T) {
	o, _ := placement.Resolve(line(5), []placement.Rule{rule("cut", 2, 3, neutral, 0)}, require)
	groups := o.Groups()
	if len(groups) != 2 || len(groups[0].Members) != 3 || len(groups[1].Members) != 2 || len(groups[0].Pairs) != 2 {
		t.Fatalf("groups %v", groups)
	}
	if policy, by := o.Effective(0, 1); policy != require || by != -1 {
		t.Errorf("neighbours: %s by %d", policy, by)
	}
	if policy, _ := o.Effective(0, 2); policy != neutral {
		t.Errorf("no neighbours: %s", policy)
	}
}

func TestCoverage(t *testing.T) {
	g := line(4)
	for name, c := range map[string]struct { //plexus:orderfree independent cases
		rules []placement.Rule
		want  placement.Coverage
	}{
		"backwards":            {[]placement.Rule{rule("r", 3, 0, require, 0)}, placement.CoverageEmpty},
		"with itself":          {[]placement.Rule{rule("r", 1, 1, require, 0)}, placement.CoverageEmpty},
		"both ways":            {[]placement.Rule{{From: []int{0, 3}, To: []int{3, 0}, Policy: require}}, placement.CoveragePartial},
		"itself does not hurt": {[]placement.Rule{{From: []int{0}, To: []int{0, 3}, Policy: require}}, placement.CoverageEffective},
		"overridden":           {[]placement.Rule{rule("r", 1, 2, require, 2), rule("s", 0, 3, require, 1)}, placement.CoverageOverridden},
		"overridden in the part that is connected": {[]placement.Rule{
			{From: []int{1, 3}, To: []int{2}, Policy: require}, rule("s", 0, 3, neutral, 1)}, placement.CoverageOverridden},
	} {
		o, conflict := placement.Resolve(g, c.rules, neutral)
		if conflict != nil || o.Coverage(0) != c.want {
			t.Errorf("%s: %s, %v", name, o.Coverage(0), conflict)
		}
	}
}

// TestWitnessTakesTheShortestWay, of several the first.
func TestWitnessTakesTheShortestWay(t *testing.T) {
	w := world{n: 5, edges: []placement.Edge{{From: 0, To: 2}, {From: 0, To: 1}, {From: 1, To: 3}, {From: 2, To: 3}, {From: 3, To: 4}, {From: 0, To: 4}}}
	g := w.graph()
	for through, want := range map[int]string{0: "04", 1: "0134", 2: "0234", 3: "0134", 4: "04"} { //plexus:orderfree independent cases
		var got strings.Builder
		for _, at := range g.Witness(0, through, 4) {
			got.WriteByte(byte('0' + at))
		}
		if got.String() != want {
			t.Errorf("through %d: %s", through, got.String())
		}
	}
	if g.Witness(4, 0, 4) != nil {
		t.Error("a way back")
	}
}

func TestBetween(t *testing.T) {
	corridors := line(5).Between([]int{1}, []int{3, 0, 1})
	if len(corridors) != 2 || len(corridors[0].Captured) != 3 || corridors[1].Connected {
		t.Errorf("%+v", corridors)
	}
}

// BenchmarkResolve500 is a layered graph of 500 operators under 50 rules.
func BenchmarkResolve500(b *testing.B) {
	const layers, width = 25, 20
	w := world{n: layers * width}
	for i := range w.n - width {
		for j := range 3 {
			w.edges = append(w.edges, placement.Edge{From: i, To: (i/width+1)*width + (i+j*7)%width})
		}
	}
	keys := make([]placement.Key, w.n)
	for i := range keys {
		keys[i] = placement.Key{Kind: vocab.EntityJunction, Name: strings.Repeat("x", i)}
	}
	var rules []placement.Rule
	for i := range 50 {
		rules = append(rules, placement.Rule{
			Name: strings.Repeat("r", i), From: []int{i * 3, i*3 + 1}, To: []int{w.n - 1 - i, w.n - 2 - i},
			Policy: vocab.PlacementPolicies()[i%4], Rank: uint64(i + 1),
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		o, conflict := placement.Resolve(placement.NewGraph(keys, w.edges), rules, prefer)
		if conflict != nil || o.Groups() == nil {
			b.Fatal(conflict)
		}
	}
}
