package placement

import (
	"cmp"
	"fmt"
	"slices"

	"plexus/nspl/vocab"
)

// Rule is one placement rule. From and To are operators of the graph.
type Rule struct {
	Name     string
	From, To []int
	Policy   vocab.PlacementPolicy
	Rank     uint64 // 0: none, which is weakest
}

// tier orders rules by strength: rank 1 first, no rank last.
func (r *Rule) tier() uint64 { return r.Rank - 1 }

// Conflict is two rules of one strength that claim a pair differently.
type Conflict struct {
	A, B *Rule // in name order
	Pair [2]Key
}

// Error names both rules, the rank and the pair.
func (c *Conflict) Error() string {
	rank := "without a rank"
	if c.A.Rank > 0 {
		rank = fmt.Sprintf("of rank %d", c.A.Rank)
	}
	return fmt.Sprintf("placements '%s' (%s) and '%s' (%s) %s both claim %s and %s",
		c.A.Name, c.A.Policy, c.B.Name, c.B.Policy, rank, c.Pair[0], c.Pair[1])
}

// Outcome is what the rules and the default of a domain mean for its graph.
type Outcome struct {
	graph    *Graph
	rules    []claimer // by tier and name
	byPolicy [policies]relation
	fallback vocab.PlacementPolicy
}

const policies = 4 // of vocab.PlacementPolicies

// claimer is a rule with what came of it.
type claimer struct {
	*Rule
	at           int // in the rules as they were given
	claims       relation
	connected    int // pairs of FROM and TO with a way between them
	disconnected int
	won, lost    bool // it claims a pair that it wins, that a stronger rule wins
}

// Resolve decides every pair. A conflict is why there is no outcome.
func Resolve(g *Graph, rules []Rule, fallback vocab.PlacementPolicy) (*Outcome, *Conflict) {
	o := &Outcome{graph: g, fallback: fallback, rules: make([]claimer, len(rules))}
	for p := range o.byPolicy {
		o.byPolicy[p] = newRelation(g.Len())
	}
	ways := &ways{graph: g, forward: make([]set, g.Len()), backward: make([]set, g.Len())}
	for i := range rules {
		o.rules[i] = ways.claim(&rules[i], i)
	}
	slices.SortFunc(o.rules, func(a, b claimer) int {
		return cmp.Or(cmp.Compare(a.tier(), b.tier()), cmp.Compare(a.Name, b.Name))
	})
	claimed := newRelation(g.Len())
	for first := 0; first < len(o.rules); {
		end := first + 1
		for end < len(o.rules) && o.rules[end].tier() == o.rules[first].tier() {
			end++
		}
		if c := o.settle(o.rules[first:end], claimed); c != nil {
			return nil, c
		}
		first = end
	}
	if fallback != vocab.PlacementNeutral {
		for from, next := range g.next {
			for _, to := range next {
				if !claimed.has(from, to) {
					o.byPolicy[fallback].add(from, to)
				}
			}
		}
	}
	return o, nil
}

// settle gives the rules of one tier what no stronger tier claimed.
func (o *Outcome) settle(tier []claimer, claimed relation) *Conflict {
	var won [policies]relation
	for p := range won {
		won[p] = newRelation(o.graph.Len())
	}
	for i := range tier {
		r := &tier[i]
		_, r.lost = r.claims.meets(claimed)
		mine := r.claims.without(claimed)
		r.won = !mine.rows.empty()
		for p := range won {
			if pair, both := won[p].meets(mine); both && vocab.PlacementPolicy(p) != r.Policy {
				return conflict(o.graph, tier[:i], r, pair)
			}
		}
		won[r.Policy].union(mine)
	}
	for p := range won {
		o.byPolicy[p].union(won[p])
		claimed.union(won[p])
	}
	return nil
}

// conflict finds the rule before r that claims a pair with another policy.
func conflict(g *Graph, before []claimer, r *claimer, pair [2]int) *Conflict {
	at := slices.IndexFunc(before, func(c claimer) bool {
		return c.Policy != r.Policy && c.claims.has(pair[0], pair[1])
	})
	return &Conflict{A: before[at].Rule, B: r.Rule, Pair: [2]Key{g.keys[pair[0]], g.keys[pair[1]]}}
}

// ways remembers what the members of rules can reach.
type ways struct {
	graph             *Graph
	forward, backward []set
}

func (w *ways) from(i int) set {
	if w.forward[i] == nil {
		w.forward[i] = reach(w.graph.next, i)
	}
	return w.forward[i]
}

func (w *ways) to(i int) set {
	if w.backward[i] == nil {
		w.backward[i] = reach(w.graph.prev, i)
	}
	return w.backward[i]
}

// corridor returns the operators on the ways between two, nil if there is none.
func (w *ways) corridor(from, to int) set {
	if from == to || !w.from(from).has(to) {
		return nil
	}
	return w.from(from).intersect(w.to(to))
}

// claim collects the pairs inside the corridors of a rule.
func (w *ways) claim(r *Rule, at int) claimer {
	c := claimer{Rule: r, at: at, claims: newRelation(w.graph.Len())}
	for _, from := range r.From {
		for _, to := range r.To {
			corridor := w.corridor(from, to)
			switch {
			case from == to:
			case corridor == nil:
				c.disconnected++
			default:
				c.connected++
				c.claims.clique(corridor)
			}
		}
	}
	return c
}
