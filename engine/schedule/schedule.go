package schedule

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"plexus/engine/placement"
)

// Node is a member of the cluster as scheduling sees it.
type Node struct {
	ID string
	// Live is effective availability, which lags behind a single missed probe.
	Live                  bool
	Voter                 bool
	Cordoned, Terminating bool
}

// Holds reports whether the node may keep what it owns.
func (n *Node) Holds() bool { return n.Live && n.Voter }

// Candidate reports whether new work may land on the node.
func (n *Node) Candidate() bool { return n.Holds() && !n.Cordoned && !n.Terminating }

// Operator is a vertex of the domain's graph.
type Operator struct {
	placement.Key
	// Everywhere operators are executed by every live voter.
	Everywhere bool
	// Stateful operators own a persisted component and get replicas.
	Stateful bool
	// Depth is the shortest distance from a source.
	Depth int
	// Upstream are the operators that feed this one directly, as indices.
	Upstream []int
	// Partners are the operators it would rather share a node with, or avoid.
	Partners []placement.Partner
}

// Assignment is where an operator is executed.
type Assignment struct {
	placement.Key
	Everywhere bool
	Primary    string // "" is unassigned
	Replicas   []string
}

// Input is everything a plan depends on.
type Input struct {
	Domain    string
	Operators []Operator // by kind and name
	Groups    [][]int    // hard groups: disjoint, of operators that are not everywhere
	Previous  []Assignment
	Nodes     []Node
	// Load is what the other domains put on each node, see [Load].
	Load         map[string]int
	ReplicaCount int
	// Onto moves operators to a node, Away moves them from where they are. Either
	// names whole groups.
	Onto map[int]string
	Away []int
	// Random, when set, is the seed of a ranking that ignores locality and load. It
	// is for tests that want graphs to cross nodes.
	Random *uint64
}

// Result is a plan.
type Result struct {
	Assignments []Assignment // of the operators, in their order
	Hosts       []string     // of the groups, in their order
	Moves       []Move       // in the order of the operators
	Unassigned  []int
}

// Move is a change of a primary that an operator had.
type Move struct {
	Operator int
	From     string
	To       string // "": it is unassigned now
	// Lost says that From no longer executes it, so there is nothing to hand over.
	Lost bool
	// Promoted says that To was a replica before.
	Promoted bool
}

// The weights of load.
const (
	primaryLoad = 2
	replicaLoad = 1
)

// Load adds what assignments put on each node to loads.
func Load(loads map[string]int, assignments []Assignment) {
	for i := range assignments {
		a := &assignments[i]
		if a.Primary != "" {
			loads[a.Primary] += primaryLoad
		}
		for _, r := range a.Replicas {
			loads[r] += replicaLoad
		}
	}
}

// unit is a hard group or a single operator: what is placed together.
type unit struct {
	members []int // ascending
	group   int   // -1 for a single operator
	depth   int
}

// planner is a plan in progress.
type planner struct {
	*Input
	nodes      map[string]*Node
	candidates []string // ascending
	previous   []*Assignment
	groupOf    []int // by operator, -1 for none
	result     []Assignment
	load       map[string]int
	cursor     uint64
}

// Plan assigns every operator.
func Plan(in Input) Result {
	p := newPlanner(&in)
	units := p.units()
	for i := range units {
		p.keep(&units[i])
	}
	r := Result{Assignments: p.result, Hosts: make([]string, len(in.Groups))}
	for i := range units {
		u := &units[i]
		if p.owner(u) == "" {
			p.place(u)
		}
		for _, m := range u.members {
			p.replicate(m)
		}
		if u.group >= 0 {
			r.Hosts[u.group] = p.owner(u)
		}
	}
	for i := range in.Operators {
		p.note(i, &r)
	}
	return r
}

func newPlanner(in *Input) *planner {
	p := &planner{
		Input: in, nodes: map[string]*Node{}, load: map[string]int{},
		previous: make([]*Assignment, len(in.Operators)), result: make([]Assignment, len(in.Operators)),
	}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		p.nodes[n.ID] = n
		p.load[n.ID] = in.Load[n.ID]
		if n.Candidate() {
			p.candidates = append(p.candidates, n.ID)
		}
	}
	slices.Sort(p.candidates)
	p.cursor = xxh3.HashString(in.Domain)
	for i := range in.Operators {
		p.result[i] = Assignment{Key: in.Operators[i].Key, Everywhere: in.Operators[i].Everywhere}
	}
	for i := range in.Previous {
		at, ok := slices.BinarySearchFunc(in.Operators, in.Previous[i].Key, func(o Operator, k placement.Key) int { return o.Compare(k) })
		if ok {
			p.previous[at] = &in.Previous[i]
		}
	}
	return p
}

// units lists what is placed together: groups first, then single operators, each
// by depth, kind and name.
func (p *planner) units() []unit {
	var units []unit
	p.groupOf = make([]int, len(p.Operators))
	for i := range p.groupOf {
		p.groupOf[i] = -1
	}
	for g, members := range p.Groups {
		u := unit{members: slices.Sorted(slices.Values(members)), group: g}
		u.depth = p.Operators[u.members[0]].Depth
		for _, m := range u.members {
			p.groupOf[m] = g
			u.depth = min(u.depth, p.Operators[m].Depth)
		}
		units = append(units, u)
	}
	for i := range p.Operators {
		if p.groupOf[i] < 0 && !p.Operators[i].Everywhere {
			units = append(units, unit{members: []int{i}, group: -1, depth: p.Operators[i].Depth})
		}
	}
	slices.SortStableFunc(units, func(a, b unit) int {
		return cmp.Or(-cmp.Compare(min(a.group, 0), min(b.group, 0)), cmp.Compare(a.depth, b.depth), cmp.Compare(a.members[0], b.members[0]))
	})
	return units
}

func (p *planner) owner(u *unit) string { return p.result[u.members[0]].Primary }

// assign makes a node the primary of a unit.
func (p *planner) assign(u *unit, node string) {
	for _, m := range u.members {
		p.result[m].Primary = node
		p.load[node] += primaryLoad
	}
	p.cursor++
}

// holds reports whether a node may keep what it owns.
func (p *planner) holds(node string) bool {
	n, ok := p.nodes[node]
	return ok && n.Holds()
}

func (p *planner) candidate(node string) bool {
	n, ok := p.nodes[node]
	return ok && n.Candidate()
}

// primaries counts the members of a unit on each node that holds them.
func (p *planner) primaries(u *unit) (nodes []string, count map[string]int) {
	count = map[string]int{}
	for _, m := range u.members {
		if a := p.previous[m]; a != nil && p.holds(a.Primary) && !slices.Contains(p.Away, m) {
			if count[a.Primary] == 0 {
				nodes = append(nodes, a.Primary)
			}
			count[a.Primary]++
		}
	}
	return nodes, count
}

// keep places what needs no ranking: units that were told where to go, and units
// that stay. The replicas that remain count as load, too.
func (p *planner) keep(u *unit) {
	if node := p.Onto[u.members[0]]; node != "" {
		p.assign(u, node)
	} else if nodes, _ := p.primaries(u); len(nodes) == 1 {
		p.assign(u, nodes[0])
	}
	for _, m := range u.members {
		p.setReplicas(m, p.former(m))
	}
}
