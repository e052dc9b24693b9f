package placement

import (
	"slices"

	"plexus/nspl/vocab"
)

// Group is a set of operators that must share a node.
type Group struct {
	Members []int    // ascending
	Pairs   [][2]int // the hard pairs that hold it together, each in ascending order
}

// Groups returns the hard groups by their first member.
func (o *Outcome) Groups() []Group {
	hard := o.byPolicy[vocab.PlacementRequireColocation]
	seen := newSet(o.graph.Len())
	var groups []Group
	for i := range o.graph.keys {
		if seen.has(i) || hard.row(i).empty() {
			continue
		}
		var members []int
		seen.add(i)
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			members = append(members, queue[0])
			for _, to := range hard.row(queue[0]).members() {
				if !seen.has(to) {
					seen.add(to)
					queue = append(queue, to)
				}
			}
		}
		slices.Sort(members)
		groups = append(groups, Group{Members: members, Pairs: pairsOf(hard, members)})
	}
	return groups
}

// pairsOf lists the pairs of a relation among operators that are related to
// nobody else.
func pairsOf(r relation, members []int) (pairs [][2]int) {
	for _, a := range members {
		for _, b := range r.row(a).members() {
			if a < b {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	return pairs
}

// Partner is another operator with which a soft policy holds.
type Partner struct {
	Operator int
	Score    int // +1 to share a node, -1 to avoid one
}

// Partners returns the soft partners of an operator in ascending order.
func (o *Outcome) Partners(i int) []Partner {
	prefer, avoid := o.byPolicy[vocab.PlacementPreferColocation].row(i), o.byPolicy[vocab.PlacementSuggestSeparation].row(i)
	var list []Partner
	for j := range o.graph.keys {
		switch {
		case prefer.has(j):
			list = append(list, Partner{j, +1})
		case avoid.has(j):
			list = append(list, Partner{j, -1})
		}
	}
	return list
}

// Effective returns the policy that holds between two operators and the rule it
// comes from, as an index of the rules that were given. The rule is -1 where the
// domain's default holds, or nothing.
func (o *Outcome) Effective(a, b int) (policy vocab.PlacementPolicy, rule int) {
	for i := range o.rules {
		if o.rules[i].claims.has(a, b) {
			return o.rules[i].Policy, o.rules[i].at
		}
	}
	for p := range o.byPolicy {
		if o.byPolicy[p].has(a, b) {
			return vocab.PlacementPolicy(p), -1
		}
	}
	return vocab.PlacementNeutral, -1
}

// Coverage says how much of a rule holds.
type Coverage uint8

// The coverages.
const (
	CoverageEmpty      Coverage = iota // no connected pair
	CoverageEffective                  // all pairs connected, all claims won
	CoveragePartial                    // some pairs disconnected, or some claims lost
	CoverageOverridden                 // connected, every claim lost
)

var coverageNames = [...]string{"empty", "effective", "partial", "overridden"}

// String returns the word that listings show.
func (c Coverage) String() string { return coverageNames[c] }

// Coverage returns the coverage of a rule that was given.
func (o *Outcome) Coverage(rule int) Coverage {
	c := o.claimer(rule)
	switch {
	case c.connected == 0:
		return CoverageEmpty
	case !c.won:
		return CoverageOverridden
	case c.lost || c.disconnected > 0:
		return CoveragePartial
	}
	return CoverageEffective
}

func (o *Outcome) claimer(rule int) *claimer {
	return &o.rules[slices.IndexFunc(o.rules, func(c claimer) bool { return c.at == rule })]
}

// Corridor is one pair of FROM and TO with the operators between them.
type Corridor struct {
	From, To  int
	Connected bool
	Captured  []int // From and To included, ascending
}

// Corridors returns the pairs of a rule that was given, in its order. A member
// paired with itself is no pair.
func (o *Outcome) Corridors(rule int) []Corridor {
	r := o.claimer(rule)
	w := &ways{graph: o.graph, forward: make([]set, o.graph.Len()), backward: make([]set, o.graph.Len())}
	var list []Corridor
	for _, from := range r.From {
		for _, to := range r.To {
			if from == to {
				continue
			}
			captured := w.corridor(from, to)
			list = append(list, Corridor{From: from, To: to, Connected: captured != nil, Captured: captured.members()})
		}
	}
	return list
}

// Between returns the operators that lie on the ways from any of from to any of
// to, and the pairs, like those of a rule.
func (g *Graph) Between(from, to []int) []Corridor {
	o, _ := Resolve(g, []Rule{{From: from, To: to}}, vocab.PlacementNeutral)
	return o.Corridors(0)
}
