package decide

import (
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkCycles is V8: a cycle whose consumers are all attached is refused, because
// no acknowledgement on it could ever resolve. A detached consumer ends what its
// input waits for, so edges into one are left out. Reading state keeps nobody
// waiting, so neither dependencies nor generators close a cycle.
func (c *Candidate) checkCycles() *Invalid {
	w := walkGraph{candidate: c, color: map[catalog.Key]color{}, consumers: c.attachedConsumers()}
	for i := range c.entries {
		if cycle := w.visit(c.entries[i].key); cycle != nil {
			return cycle
		}
	}
	return nil
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
	blamed, span := &w.candidate.entries[at], vocab.Span{}
	for i, member := range cycle {
		at, _ := w.candidate.find(member)
		e := &w.candidate.entries[at]
		if member.Kind == vocab.EntityRelay || !e.created || blamed.created && e.statement <= blamed.statement && span != (vocab.Span{}) {
			continue
		}
		blamed, span = e, reads(e.entity, cycle[(i+len(cycle)-1)%len(cycle)].Name)
	}
	f := found{key: blamed.key}
	f.add(CodeGraphCycle, span, "every consumer of the cycle %s is attached", strings.Join(members, " -> ")).
		WithHint("declare one consumer on the cycle DETACHED")
	return report(blamed, f.list)
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
func (w *walkGraph) successors(key catalog.Key) (next []catalog.Key) {
	if key.Kind == vocab.EntityRelay {
		return w.consumers[key.Name]
	}
	entity, _ := w.candidate.get(key.Kind, key.Name)
	_, writes := flows(entity)
	for _, name := range writes {
		next = append(next, catalog.Key{Kind: vocab.EntityRelay, Name: name.Text})
	}
	return next
}

func (c *Candidate) attachedConsumers() map[string][]catalog.Key {
	consumers := map[string][]catalog.Key{}
	for i := range c.entries {
		e := &c.entries[i]
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
