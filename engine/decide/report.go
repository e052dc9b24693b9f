package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/placement"
	"plexus/nspl/vocab"
)

// listMax bounds the lists of a report that grow with the square of a corridor or
// of the sides of a rule.
const listMax = 256

// Rule is one line of SHOW PLACEMENTS.
type Rule struct {
	Name     string
	Policy   vocab.PlacementPolicy
	Rank     uint64 // 0 for none
	Coverage placement.Coverage
}

// PlacementReport is what DESCRIBE PLACEMENT shows.
type PlacementReport struct {
	Rule
	// Pairs are the first pairs of FROM and TO, in written order; MorePairs counts
	// the others.
	Pairs     []PairReport
	MorePairs int
	// Claims are the first claims of the rule, by kind and name; MoreClaims counts
	// the others.
	Claims     []Claim
	MoreClaims int
}

// PairReport is one pair of FROM and TO.
type PairReport struct {
	Pair
	// Witnesses are ways from From to To, one through each captured operator between
	// them, as far as the report has room for them.
	Witnesses [][]catalog.Key
	// Policy holds between From and To themselves; Rule states it, "" is the default
	// of the domain.
	Policy vocab.PlacementPolicy
	Rule   string
	// OverriddenBy are the rules that win claims of this pair, by name.
	OverriddenBy []string
}

// Claim is a pair of operators that a rule claims, with the rule that wins it.
type Claim struct {
	A, B   catalog.Key
	Policy vocab.PlacementPolicy
	Rule   string
	// Group lists the hard group that the pair belongs to, if the policy is hard, and
	// Host is its node, "" while it has none.
	Group []catalog.Key
	Host  string
}

// GroupReport is one hard group of DESCRIBE DOMAIN.
type GroupReport struct {
	Members []catalog.Key
	Host    string // "" while it has none
	// Pairs are the first hard pairs that hold it together; MorePairs counts the
	// others.
	Pairs     [][2]catalog.Key
	MorePairs int
}

// DomainPlacement is the placement part of DESCRIBE DOMAIN.
type DomainPlacement struct {
	Default vocab.PlacementPolicy
	Rules   int
	Groups  []GroupReport
	// Planned counts the operators that the next schedule would move, as after the
	// loss of a node.
	Planned int
	// Unassigned are the operators that no node executes.
	Unassigned []catalog.Key
}

// ShowPlacements lists the placements of a domain by name.
func ShowPlacements(state *catalog.State, domain string) (list []Rule) {
	p, missing := newScheduling(state, domain, Cluster{})
	if missing != nil {
		return nil
	}
	for i := range p.rules {
		list = append(list, p.rule(i))
	}
	return list
}

func (p *scheduling) rule(i int) Rule {
	r := &p.rules[i]
	return Rule{Name: r.Name, Policy: r.Policy, Rank: r.Rank, Coverage: p.outcome.Coverage(i)}
}

// DescribePlacement reports on one placement of a domain. What does not exist has
// nothing to report.
func DescribePlacement(state *catalog.State, domain, name string) *PlacementReport {
	p, missing := newScheduling(state, domain, Cluster{})
	if missing != nil {
		return &PlacementReport{}
	}
	at := slices.IndexFunc(p.rules, func(r placement.Rule) bool { return r.Name == name })
	if at < 0 {
		return &PlacementReport{}
	}
	report := &PlacementReport{Rule: p.rule(at)}
	claimed := map[[2]int]bool{}
	room := listMax
	for i, c := range p.outcome.Corridors(at) {
		if i < listMax {
			pair := p.pair(c, name, room)
			room -= len(pair.Witnesses)
			report.Pairs = append(report.Pairs, pair)
		} else {
			report.MorePairs++
		}
		for i, a := range c.Captured {
			for _, b := range c.Captured[i+1:] {
				claimed[[2]int{a, b}] = true
			}
		}
	}
	report.MoreClaims = max(len(claimed)-listMax, 0)
	for a := range p.graph.operators {
		for b := a + 1; b < len(p.graph.operators) && len(report.Claims) < listMax; b++ {
			if claimed[[2]int{a, b}] {
				report.Claims = append(report.Claims, p.claim(a, b))
			}
		}
	}
	return report
}

func (p *scheduling) pair(c placement.Corridor, rule string, room int) PairReport {
	r := PairReport{Pair: Pair{p.graph.key(c.From), p.graph.key(c.To), c.Connected, p.graph.keys(c.Captured)}}
	r.Policy, r.Rule = p.effective(c.From, c.To)
	for i, a := range c.Captured {
		if a != c.From && a != c.To && len(r.Witnesses) < room {
			r.Witnesses = append(r.Witnesses, p.graph.keys(p.graph.placement.Witness(c.From, a, c.To)))
		}
		for _, b := range c.Captured[i+1:] {
			if _, winner := p.effective(a, b); winner != rule && !slices.Contains(r.OverriddenBy, winner) && p.overrides(winner, rule) {
				r.OverriddenBy = append(r.OverriddenBy, winner)
			}
		}
	}
	slices.Sort(r.OverriddenBy)
	return r
}

// overrides reports whether one rule is of a stronger rank than another.
func (p *scheduling) overrides(winner, rule string) bool {
	rank := func(name string) uint64 {
		at := slices.IndexFunc(p.rules, func(r placement.Rule) bool { return r.Name == name })
		return p.rules[at].Rank - 1 // none becomes the largest
	}
	return rank(winner) < rank(rule)
}

func (p *scheduling) claim(a, b int) Claim {
	c := Claim{A: p.graph.key(a), B: p.graph.key(b)}
	c.Policy, c.Rule = p.effective(a, b)
	if c.Policy != vocab.PlacementRequireColocation {
		return c
	}
	for _, g := range p.groups {
		if slices.Contains(g.Members, a) {
			c.Group, c.Host = p.graph.keys(g.Members), p.host(g.Members)
		}
	}
	return c
}

// host is where the members of a group are according to the committed schedule.
func (p *scheduling) host(members []int) string {
	if a, ok := p.old.Assignment(p.graph.key(members[0])); ok {
		return a.Primary
	}
	return ""
}

// DescribeDomain reports on the placement of a domain.
func DescribeDomain(state *catalog.State, domain string, cluster Cluster) *DomainPlacement {
	p, missing := newScheduling(state, domain, cluster)
	if missing != nil {
		return &DomainPlacement{}
	}
	d := &DomainPlacement{Default: p.c.placement, Rules: len(p.rules)}
	for _, g := range p.groups {
		r := GroupReport{Members: p.graph.keys(g.Members), Host: p.host(g.Members), MorePairs: max(len(g.Pairs)-listMax, 0)}
		for _, pair := range g.Pairs[:min(len(g.Pairs), listMax)] {
			r.Pairs = append(r.Pairs, [2]catalog.Key{p.graph.key(pair[0]), p.graph.key(pair[1])})
		}
		d.Groups = append(d.Groups, r)
	}
	if next, refused := p.plan(); refused == nil {
		d.Planned = len(next.Moves)
	}
	for i := range p.graph.operators {
		key := p.graph.key(i)
		if a, ok := p.old.Assignment(key); p.old != nil && (!ok || !a.Everywhere && a.Primary == "") {
			d.Unassigned = append(d.Unassigned, key)
		}
	}
	return d
}
