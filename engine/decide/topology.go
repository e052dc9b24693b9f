package decide

import (
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkCycles is V8: a cycle whose consumers are all attached is refused, because
// no acknowledgement on it could ever resolve. A detached consumer ends what its
// input waits for, so edges into one are left out.
func (c *Candidate) checkCycles() *ast.Diagnostic {
	w := walkGraph{candidate: c, color: map[catalog.Key]color{}}
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
	color     map[catalog.Key]color
	path      []catalog.Key
}

func (w *walkGraph) visit(key catalog.Key) *ast.Diagnostic {
	switch w.color[key] {
	case finished:
		return nil
	case onPath:
		return w.cycle(key)
	}
	w.color[key] = onPath
	w.path = append(w.path, key)
	for _, next := range w.candidate.successors(key) {
		if cycle := w.visit(next); cycle != nil {
			return cycle
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.color[key] = finished
	return nil
}

func (w *walkGraph) cycle(key catalog.Key) *ast.Diagnostic {
	start := len(w.path) - 1
	for w.path[start] != key {
		start--
	}
	var members []string
	for _, member := range w.path[start:] {
		members = append(members, member.String())
	}
	members = append(members, key.String())
	d := ast.Errorf(CodeGraphCycle, vocab.Span{}, "every consumer of the cycle %s is attached", strings.Join(members, " -> "))
	return about(key, d.WithHint("declare one consumer on the cycle DETACHED"))
}

// successors follows data through attached consumers, by kind and name.
func (c *Candidate) successors(key catalog.Key) (next []catalog.Key) {
	relay := func(name ast.Name) { next = append(next, catalog.Key{Kind: vocab.EntityRelay, Name: name.Text}) }
	if key.Kind == vocab.EntityRelay {
		return c.attachedConsumers(key.Name)
	}
	entity, _ := c.get(key.Kind, key.Name)
	switch x := entity.(type) {
	case *model.Junction:
		for _, r := range x.Routes {
			relay(r.To)
			if r.OnError.Action == ast.ErrorSendTo {
				relay(r.OnError.To)
			}
		}
	case *model.Emitter:
		if x.OnError.Action == ast.ErrorSendTo {
			relay(x.OnError.To)
		}
	}
	return next
}

func (c *Candidate) attachedConsumers(name string) (consumers []catalog.Key) {
	for i := range c.entries {
		var inputs ast.Inputs
		switch x := c.entries[i].entity.(type) {
		case *model.Junction:
			if x.Attached {
				inputs = x.Inputs
			}
		case *model.Emitter:
			if x.Attached {
				inputs = x.Inputs
			}
		}
		for _, in := range inputs.From {
			if in.Relay.Text == name {
				consumers = append(consumers, c.entries[i].key)
			}
		}
	}
	return consumers
}
