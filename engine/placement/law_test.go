package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/placement"
	"plexus/nspl/vocab"
)

// world is a drawn graph with rules.
type world struct {
	n        int
	edges    []placement.Edge
	rules    []placement.Rule
	fallback vocab.PlacementPolicy
}

func (w *world) graph() *placement.Graph {
	keys := make([]placement.Key, w.n)
	for i := range keys {
		keys[i] = placement.Key{Kind: vocab.EntityJunction, Name: string(rune('a' + i))}
	}
	return placement.NewGraph(keys, w.edges)
}

func draw(t *rapid.T) *world {
	w := &world{n: rapid.IntRange(1, 8).Draw(t, "operators")}
	operator := rapid.IntRange(0, w.n-1)
	policy := rapid.SampledFrom(vocab.PlacementPolicies())
	for range rapid.IntRange(0, 14).Draw(t, "edges") {
		w.edges = append(w.edges, placement.Edge{From: operator.Draw(t, "from"), To: operator.Draw(t, "to")})
	}
	side := rapid.SliceOfNDistinct(operator, 1, 3, rapid.ID[int])
	for i := range rapid.IntRange(0, 5).Draw(t, "rules") {
		w.rules = append(w.rules, placement.Rule{
			Name: fmt.Sprintf("r%d", 9-i), From: side.Draw(t, "FROM"), To: side.Draw(t, "TO"),
			Policy: policy.Draw(t, "policy"), Rank: rapid.Uint64Range(0, 3).Draw(t, "rank"),
		})
	}
	w.fallback = policy.Draw(t, "default")
	return w
}

// model answers by the definitions of the language, one pair at a time.
type model struct {
	*world
	reaches [8][8]bool
}

func newModel(w *world) *model {
	m := &model{world: w}
	for i := range w.n {
		m.reaches[i][i] = true
	}
	for _, e := range w.edges {
		m.reaches[e.From][e.To] = true
	}
	for k := range w.n {
		for i := range w.n {
			for j := range w.n {
				m.reaches[i][j] = m.reaches[i][j] || m.reaches[i][k] && m.reaches[k][j]
			}
		}
	}
	return m
}

// captured reports whether x lies on a way from f to t.
func (m *model) captured(f, t, x int) bool {
	return f != t && m.reaches[f][t] && m.reaches[f][x] && m.reaches[x][t]
}

func (m *model) claims(r *placement.Rule, a, b int) bool {
	for _, f := range r.From {
		for _, t := range r.To {
			if a != b && m.captured(f, t, a) && m.captured(f, t, b) {
				return true
			}
		}
	}
	return false
}

// winning returns the rules of the strongest tier that claim a pair.
func (m *model) winning(a, b int) (tier []*placement.Rule) {
	for _, rank := range []uint64{1, 2, 3, 0} {
		for i := range m.rules {
			if r := &m.rules[i]; r.Rank == rank && m.claims(r, a, b) {
				tier = append(tier, r)
			}
		}
		if tier != nil {
			return tier
		}
	}
	return nil
}

func (m *model) conflict(a, b int) bool {
	tier := m.winning(a, b)
	return slices.ContainsFunc(tier, func(r *placement.Rule) bool { return r.Policy != tier[0].Policy })
}

func (m *model) connected(a, b int) bool {
	return slices.ContainsFunc(m.edges, func(e placement.Edge) bool {
		return a != b && (e.From == a && e.To == b || e.From == b && e.To == a)
	})
}

func (m *model) effective(a, b int) vocab.PlacementPolicy {
	if tier := m.winning(a, b); tier != nil {
		return tier[0].Policy
	}
	if m.connected(a, b) {
		return m.fallback
	}
	return vocab.PlacementNeutral
}

func (m *model) coverage(r *placement.Rule) placement.Coverage {
	connected, disconnected, won, lost := 0, 0, 0, 0
	for _, f := range r.From {
		for _, t := range r.To {
			switch {
			case f == t:
			case m.reaches[f][t]:
				connected++
			default:
				disconnected++
			}
		}
	}
	for a := range m.n {
		for b := range a {
			switch tier := m.winning(a, b); {
			case !m.claims(r, a, b):
			case tier[0].Rank == r.Rank:
				won++
			default:
				lost++
			}
		}
	}
	switch {
	case connected == 0:
		return placement.CoverageEmpty
	case won == 0:
		return placement.CoverageOverridden
	case disconnected > 0 || lost > 0:
		return placement.CoveragePartial
	}
	return placement.CoverageEffective
}

// together closes the hard pairs.
func (m *model) together() (hard [8][8]bool) {
	for a := range m.n {
		for b := range m.n {
			hard[a][b] = a != b && m.effective(a, b) == vocab.PlacementRequireColocation
		}
	}
	for k := range m.n {
		for i := range m.n {
			for j := range m.n {
				hard[i][j] = hard[i][j] || hard[i][k] && hard[k][j]
			}
		}
	}
	return hard
}

// TestPlacementAgreesWithDefinitions is the law "placement".
func TestPlacementAgreesWithDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m := newModel(w)
		o, conflict := placement.Resolve(w.graph(), w.rules, w.fallback)
		checkConflict(t, m, conflict)
		if conflict != nil {
			return
		}
		for a := range w.n {
			for b := range w.n {
				if a == b {
					continue
				}
				policy, rule := o.Effective(a, b)
				if want := m.effective(a, b); policy != want {
					t.Fatalf("%d and %d: %s, not %s", a, b, policy, want)
				}
				if tier := m.winning(a, b); (rule >= 0) != (tier != nil) || rule >= 0 && !slices.Contains(tier, &w.rules[rule]) {
					t.Fatalf("%d and %d: rule %d does not win them", a, b, rule)
				}
				checkPartner(t, o, m, a, b)
			}
		}
		for i := range w.rules {
			if got, want := o.Coverage(i), m.coverage(&w.rules[i]); got != want {
				t.Fatalf("%s: %s, not %s", w.rules[i].Name, got, want)
			}
			checkCorridors(t, w, m, o, i)
		}
		checkGroups(t, m, o)
	})
}

func checkConflict(t *rapid.T, m *model, c *placement.Conflict) {
	any := false
	for a := range m.n {
		for b := range a {
			any = any || m.conflict(a, b)
		}
	}
	if any != (c != nil) {
		t.Fatalf("conflict %v, found %v", any, c)
	}
	if c == nil {
		return
	}
	a, b := int(c.Pair[0].Name[0]-'a'), int(c.Pair[1].Name[0]-'a')
	tier := m.winning(a, b)
	if !slices.Contains(tier, c.A) || !slices.Contains(tier, c.B) || c.A.Policy == c.B.Policy || c.A.Name >= c.B.Name || a >= b {
		t.Fatalf("%v is no conflict", c)
	}
}

func checkPartner(t *rapid.T, o *placement.Outcome, m *model, a, b int) {
	want := map[vocab.PlacementPolicy]int{vocab.PlacementPreferColocation: 1, vocab.PlacementSuggestSeparation: -1}[m.effective(a, b)]
	got := 0
	for _, p := range o.Partners(a) {
		if p.Operator == b {
			got = p.Score
		}
	}
	if got != want {
		t.Fatalf("%d and %d score %d, not %d", a, b, got, want)
	}
}

func checkCorridors(t *rapid.T, w *world, m *model, o *placement.Outcome, rule int) {
	g := w.graph()
	for _, c := range o.Corridors(rule) {
		if c.Connected != m.reaches[c.From][c.To] {
			t.Fatalf("%d to %d: connected %v", c.From, c.To, c.Connected)
		}
		for x := range w.n {
			if slices.Contains(c.Captured, x) != m.captured(c.From, c.To, x) {
				t.Fatalf("%d to %d captures %v", c.From, c.To, c.Captured)
			}
		}
		for _, x := range c.Captured {
			way := g.Witness(c.From, x, c.To)
			if way[0] != c.From || way[len(way)-1] != c.To || !slices.Contains(way, x) {
				t.Fatalf("%v is no way from %d through %d to %d", way, c.From, x, c.To)
			}
			for i := range way[1:] {
				if !slices.Contains(g.Downstream(way[i]), way[i+1]) {
					t.Fatalf("%v leaves the graph", way)
				}
			}
		}
	}
}

func checkGroups(t *rapid.T, m *model, o *placement.Outcome) {
	hard := m.together()
	of := map[int]int{}
	for i, group := range o.Groups() {
		for _, member := range group.Members {
			of[member] = i + 1
		}
		for _, p := range group.Pairs {
			if m.effective(p[0], p[1]) != vocab.PlacementRequireColocation || of[p[0]] != i+1 || of[p[1]] != i+1 {
				t.Fatalf("%v holds nothing together", p)
			}
		}
	}
	for a := range m.n {
		for b := range m.n {
			if a != b && hard[a][b] != (of[a] != 0 && of[a] == of[b]) {
				t.Fatalf("%d and %d together: %v; groups %v", a, b, hard[a][b], o.Groups())
			}
		}
	}
}
