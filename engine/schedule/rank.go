package schedule

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"plexus/primitives/invariant"
)

var (
	consolidated = invariant.Sometimes("a hard group was brought together")
	promoted     = invariant.Sometimes("a replica was promoted to primary")
	unassigned   = invariant.Sometimes("no node could take an operator")
	stayed       = invariant.Sometimes("a group followed its members to a node that takes nothing new")
)

// place gives a unit that stays nowhere a primary, if there is a candidate.
func (p *planner) place(u *unit) {
	among := p.open(u)
	nodes, count := p.primaries(u)
	switch {
	case len(among) == 0:
		unassigned.Hit()
		return
	case len(nodes) > 1:
		consolidated.Hit()
		among = most(among, count)
	default:
		if heirs := p.heirs(u, among); len(heirs) > 0 {
			promoted.Hit()
			p.assign(u, heirs[0])
			return
		}
	}
	p.assign(u, p.best(u, among))
}

// open lists the candidates for a unit: not the nodes it is to leave.
func (p *planner) open(u *unit) []string {
	return slices.DeleteFunc(slices.Clone(p.candidates), func(node string) bool {
		return slices.ContainsFunc(u.members, func(m int) bool {
			return slices.Contains(p.Away, m) && p.previous[m] != nil && p.previous[m].Primary == node
		})
	})
}

// most keeps the nodes with the highest count.
func most(nodes []string, count map[string]int) (kept []string) {
	highest := 0
	for _, n := range nodes {
		highest = max(highest, count[n])
	}
	for _, n := range nodes {
		if count[n] == highest {
			kept = append(kept, n)
		}
	}
	return kept
}

// heirs lists the candidates that hold most of a unit's state, in the order in
// which its members name them.
func (p *planner) heirs(u *unit, among []string) (nodes []string) {
	count := map[string]int{}
	for _, m := range u.members {
		if p.previous[m] == nil {
			continue
		}
		for _, r := range p.previous[m].Replicas {
			if slices.Contains(among, r) {
				if count[r] == 0 {
					nodes = append(nodes, r)
				}
				count[r]++
			}
		}
	}
	return most(nodes, count)
}

// merit is how well a node suits a unit; see the order of [merit.compare].
type merit struct {
	node                  string
	score, locality, load int
	rotation, random      uint64
}

// compare puts the better node first.
func (a *merit) compare(b *merit) int {
	return cmp.Or(-cmp.Compare(a.score, b.score), -cmp.Compare(a.locality, b.locality), cmp.Compare(a.load, b.load),
		cmp.Compare(a.rotation, b.rotation), cmp.Compare(a.random, b.random), cmp.Compare(a.node, b.node))
}

// best returns the best of some candidates.
func (p *planner) best(u *unit, among []string) string {
	return p.ranking(u, among)[0]
}

// ranking orders candidates for a unit, the best first.
func (p *planner) ranking(u *unit, among []string) []string {
	score, locality := map[string]int{}, map[string]int{}
	for _, m := range u.members {
		for _, partner := range p.Operators[m].Partners {
			if !p.within(u, partner.Operator) {
				score[p.result[partner.Operator].Primary] += partner.Score
			}
		}
		for _, up := range p.Operators[m].Upstream {
			if !p.within(u, up) {
				locality[p.result[up].Primary]++
			}
		}
	}
	merits := make([]merit, len(among))
	for i, node := range among {
		merits[i] = merit{node: node, score: score[node]}
		if p.Random != nil {
			merits[i].random = p.draw(u, node)
			continue
		}
		merits[i].locality, merits[i].load = locality[node], p.load[node]
		n := uint64(len(p.candidates))
		merits[i].rotation = (uint64(slices.Index(p.candidates, node)) + n - p.cursor%n) % n
	}
	slices.SortFunc(merits, func(a, b merit) int { return a.compare(&b) })
	nodes := make([]string, len(merits))
	for i := range merits {
		nodes[i] = merits[i].node
	}
	return nodes
}

// within reports whether an operator belongs to a unit.
func (p *planner) within(u *unit, operator int) bool {
	if u.group < 0 {
		return operator == u.members[0]
	}
	return p.groupOf[operator] == u.group
}

// draw returns the random rank of a node for a unit.
func (p *planner) draw(u *unit, node string) uint64 {
	first := p.Operators[u.members[0]].Key
	text := binary.AppendUvarint(nil, uint64(first.Kind))
	text = append(text, p.Domain+"\x00"+first.Name+"\x00"+node...)
	return xxh3.HashSeed(text, *p.Random)
}

// setReplicas gives an operator other replicas and accounts for them.
func (p *planner) setReplicas(m int, replicas []string) {
	for _, r := range p.result[m].Replicas {
		p.load[r] -= replicaLoad
	}
	for _, r := range replicas {
		p.load[r] += replicaLoad
	}
	p.result[m].Replicas = replicas
}

// former lists the nodes that hold an operator's state and can stay its replicas:
// a former primary before all others.
func (p *planner) former(m int) (replicas []string) {
	a := p.previous[m]
	if a == nil || !p.Operators[m].Stateful {
		return nil
	}
	for _, node := range append([]string{a.Primary}, a.Replicas...) {
		if p.holds(node) && node != p.result[m].Primary && !slices.Contains(replicas, node) && len(replicas) < p.ReplicaCount {
			replicas = append(replicas, node)
		}
	}
	return replicas
}

// replicate completes the replicas of an operator whose primary is decided.
func (p *planner) replicate(m int) {
	if !p.Operators[m].Stateful {
		return
	}
	if p.result[m].Primary == "" {
		p.setReplicas(m, p.holders(m))
		return
	}
	p.setReplicas(m, nil)
	replicas := p.former(m)
	p.setReplicas(m, replicas)
	u := unit{members: []int{m}, group: -1}
	for _, node := range p.ranking(&u, p.candidates) {
		if len(replicas) >= p.ReplicaCount {
			break
		}
		if node != p.result[m].Primary && !slices.Contains(replicas, node) {
			replicas = append(replicas, node)
		}
	}
	p.setReplicas(m, slices.Clip(replicas))
}

// holders lists the members that held an operator's state, live or not: one of
// them is to take it when it can.
func (p *planner) holders(m int) (nodes []string) {
	a := p.previous[m]
	if a == nil {
		return nil
	}
	for _, node := range append([]string{a.Primary}, a.Replicas...) {
		if _, member := p.nodes[node]; member && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// note reports what became of an operator.
func (p *planner) note(i int, r *Result) {
	now, before := &p.result[i], p.previous[i]
	if now.Everywhere {
		return
	}
	if now.Primary == "" {
		r.Unassigned = append(r.Unassigned, i)
	} else {
		stayed.HitIf(!p.candidate(now.Primary) && before == nil)
	}
	if before != nil && before.Primary != "" && before.Primary != now.Primary {
		r.Moves = append(r.Moves, Move{
			Operator: i, From: before.Primary, To: now.Primary, Lost: !p.holds(before.Primary),
			Promoted: slices.Contains(before.Replicas, now.Primary),
		})
	}
}
