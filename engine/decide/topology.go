package decide

import (
	"slices"
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkCycles is V8: a cycle whose consumers are all attached is refused, because
// no acknowledgement on it could ever resolve. A detached consumer ends what its
// input waits for, so edges into one are left out. Reading state keeps nobody
// waiting, so neither dependencies nor generators close a cycle.
func (c *Candidate) checkCycles(s scope) *Invalid {
	if !s.whole && len(s.touched) <= probesMax && !slices.ContainsFunc(s.touched, c.closesCycle) {
		return nil
	}
	w := walkGraph{candidate: c, color: map[catalog.Key]color{}, consumers: c.attachedConsumers()}
	for i := range c.entries {
		if cycle := w.visit(c.entries[i].key); cycle != nil {
			return cycle
		}
	}
	return nil
}

// probesMax is how many touched entities are looked at one by one.
const probesMax = 8

// closesCycle reports whether an entity stands on a cycle of attached consumers. It
// looks ahead and back in turn: a new entity has mostly nothing on one of the sides.
func (c *Candidate) closesCycle(key catalog.Key) bool {
	if _, ok := c.find(key); !ok {
		return false
	}
	sides := [2]struct {
		next func(catalog.Key) []catalog.Key
		seen map[catalog.Key]bool
		left []catalog.Key
	}{{next: c.ahead}, {next: c.back}}
	for i := range sides {
		sides[i].seen, sides[i].left = map[catalog.Key]bool{}, []catalog.Key{key}
	}
	for {
		for i := range sides {
			side := &sides[i]
			if len(side.left) == 0 {
				return false
			}
			at := side.left[0]
			side.left = side.left[1:]
			for _, next := range side.next(at) {
				if next == key {
					return true
				}
				if !side.seen[next] {
					side.seen[next] = true
					side.left = append(side.left, next)
				}
			}
		}
	}
}

// ahead lists what comes next on the way of data through attached consumers.
func (c *Candidate) ahead(key catalog.Key) []catalog.Key {
	if key.Kind == vocab.EntityRelay {
		return c.neighbours(key, true)
	}
	e, _ := c.get(key.Kind, key.Name)
	_, writes := flows(e)
	return relays(writes)
}

// back lists what comes before.
func (c *Candidate) back(key catalog.Key) []catalog.Key {
	if key.Kind == vocab.EntityRelay {
		return c.neighbours(key, false)
	}
	e, _ := c.get(key.Kind, key.Name)
	if !attached(e) {
		return nil
	}
	reads, _ := flows(e)
	return relays(reads)
}

// neighbours lists the attached readers of a relay, or its writers.
func (c *Candidate) neighbours(relay catalog.Key, readers bool) (list []catalog.Key) {
	is := func(n ast.Name) bool { return n.Text == relay.Name }
	for _, user := range c.tied().users[relay] {
		e, _ := c.get(user.Kind, user.Name)
		reads, writes := flows(e)
		if readers && attached(e) && slices.ContainsFunc(reads, is) || !readers && slices.ContainsFunc(writes, is) {
			list = append(list, user)
		}
	}
	return list
}

func relays(names []ast.Name) []catalog.Key {
	list := make([]catalog.Key, len(names))
	for i, n := range names {
		list[i] = catalog.Key{Kind: vocab.EntityRelay, Name: n.Text}
	}
	return list
}

type color uint8

const (
	unseen color = iota
	onPath
	finished
)

type walkGraph struct {
	candidate *Candidate
	consumers map[string][]catalog.Key // the attached ones of each relay, by kind and name
	color     map[catalog.Key]color
	path      []catalog.Key
}

func (w *walkGraph) visit(key catalog.Key) *Invalid {
	switch w.color[key] {
	case finished:
		return nil
	case onPath:
		return w.cycle(key)
	}
	w.color[key] = onPath
	w.path = append(w.path, key)
	for _, next := range w.successors(key) {
		if cycle := w.visit(next); cycle != nil {
			return cycle
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.color[key] = finished
	return nil
}

// cycle reports the cycle that leads back to a member, as a fault of the operator on
// it that was defined last.
func (w *walkGraph) cycle(key catalog.Key) *Invalid {
	start := len(w.path) - 1
	for w.path[start] != key {
		start--
	}
	cycle := w.path[start:]
	var members []string
	for _, member := range cycle {
		members = append(members, member.String())
	}
	members = append(members, key.String())
	at, _ := w.candidate.find(key)
	blamed, span := w.candidate.entries[at], vocab.Span{}
	for i, member := range cycle {
		at, _ := w.candidate.find(member)
		e := w.candidate.entries[at]
		if member.Kind == vocab.EntityRelay || !e.created || blamed.created && e.statement <= blamed.statement && span != (vocab.Span{}) {
			continue
		}
		blamed, span = e, reads(e.entity, cycle[(i+len(cycle)-1)%len(cycle)].Name)
	}
	f := found{key: blamed.key}
	f.add(CodeGraphCycle, span, "every consumer of the cycle %s is attached", strings.Join(members, " -> ")).
		WithHint("declare one consumer on the cycle DETACHED")
	return w.candidate.report(blamed, f.list)
}

// reads is where an operator names a relay that it reads.
func reads(e model.Entity, relay string) vocab.Span {
	inputs, _ := flows(e)
	for _, n := range inputs {
		if n.Text == relay {
			return n.Span
		}
	}
	return vocab.Span{}
}

// successors follows data through attached consumers, by kind and name.
func (w *walkGraph) successors(key catalog.Key) []catalog.Key {
	if key.Kind == vocab.EntityRelay {
		return w.consumers[key.Name]
	}
	entity, _ := w.candidate.get(key.Kind, key.Name)
	_, writes := flows(entity)
	return relays(writes)
}

func (c *Candidate) attachedConsumers() map[string][]catalog.Key {
	consumers := map[string][]catalog.Key{}
	for i := range c.entries {
		e := c.entries[i]
		if !attached(e.entity) {
			continue
		}
		reads, _ := flows(e.entity)
		for _, name := range reads {
			consumers[name.Text] = append(consumers[name.Text], e.key)
		}
	}
	return consumers
}

// attached reports whether a consumer keeps its sources waiting.
func attached(e model.Entity) bool {
	s := model.ShapeOf(e)
	return s != nil && s.Attached
}
