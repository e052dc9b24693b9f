package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// Level is how much of a running domain a change has to hold.
type Level uint8

// The levels.
const (
	Dynamic Level = iota
	EntityPause
	DomainPause
)

var levelNames = [...]string{"DYNAMIC", "ENTITY_PAUSE", "DOMAIN_PAUSE"}

// String returns the word that replies show.
func (l Level) String() string { return levelNames[l] }

// Level compares the candidate with what is committed. Only an entity that is
// dropped and created again changes what runs in its place; in a stopped domain
// nothing does.
func (c *Candidate) Level(state *catalog.State) (level Level) {
	if d, ok := state.Domain(c.domain); !ok || !d.Running {
		return Dynamic
	}
	for i := range c.entries {
		e := c.entries[i]
		old, ok := state.Model(c.domain, e.key)
		if !e.created || !ok || model.Equal(old.Definition, e.entity) {
			continue
		}
		level = max(level, replaced(e.key.Kind, old.Definition, e.entity))
	}
	return level
}

// replaced is the level of one entity exchanged for another of its name, by the
// table "Quiesce level of a change".
func replaced(kind vocab.EntityKind, old, next model.Entity) Level {
	switch kind {
	case vocab.EntityPlacement:
		return Dynamic
	case vocab.EntityRelay:
		return relayReplaced(old.(*model.Relay), next.(*model.Relay))
	case vocab.EntityVHost:
		return rebound(old, next)
	case vocab.EntityEmitter:
		return emitterReplaced(old.(*model.Emitter), next.(*model.Emitter))
	case vocab.EntityIngestor, vocab.EntityReingestor, vocab.EntityGenerator:
		return EntityPause
	case vocab.EntityJunction, vocab.EntityDeduplicator, vocab.EntityReorderer, vocab.EntityCorrelator, vocab.EntityWindow,
		vocab.EntityInferencer, vocab.EntityWASM:
		if wired(old, next) && tuned(old, next) {
			return Dynamic
		}
		return EntityPause
	}
	return DomainPause
}

func relayReplaced(old, next *model.Relay) Level {
	switch {
	case old.Schema.Text != next.Schema.Text, !sameBranch(old.Branch, next.Branch):
		return DomainPause
	case old.Materialized != next.Materialized:
		return EntityPause
	}
	return Dynamic
}

// rebound is the level of an exchange that moves a binding to another version of
// its resource, and changes nothing else.
func rebound(old, next model.Entity) Level {
	from, to := model.Bound(old), model.Bound(next)
	if from != nil && to != nil && from.Resource.Text == to.Resource.Text &&
		model.Equal(model.Rebound(old, to.Version.Number.Value), next) {
		return Dynamic
	}
	return DomainPause
}

// emitterReplaced compares what an emitter reads, then all but its flush.
func emitterReplaced(old, next *model.Emitter) Level {
	names := func(e *model.Emitter) []string {
		var list []string
		for _, in := range e.Inputs.From {
			list = append(list, in.Relay.Text)
		}
		slices.Sort(list)
		return list
	}
	if !slices.Equal(names(old), names(next)) {
		return DomainPause
	}
	flushed := *old
	flushed.Flush = next.Flush
	if model.Equal(&flushed, next) {
		return Dynamic
	}
	return EntityPause
}

// wired reports whether two forms of a processor stand in the graph alike: inputs,
// attachment, branch, dependencies, and the targets of routes and errors.
func wired(old, next model.Entity) bool {
	a, b := model.ShapeOf(old), model.ShapeOf(next)
	return a.Attached == b.Attached && sameBranch(*a.Branch, *b.Branch) && ast.Equal(a.States, b.States) && ast.Equal(a.Timeouts, b.Timeouts) &&
		slices.EqualFunc(a.Sides, b.Sides, func(x, y ast.Inputs) bool {
			return slices.EqualFunc(x.From, y.From, func(i, j ast.Input) bool { return i.Relay.Text == j.Relay.Text })
		}) &&
		slices.EqualFunc(a.Routes, b.Routes, func(x, y ast.Route) bool {
			return x.To.Text == y.To.Text && x.OnError.To.Text == y.OnError.To.Text
		})
}

// tuned reports whether what a kind keeps state by is the same in both forms.
func tuned(old, next model.Entity) bool {
	switch a := old.(type) {
	case *model.Deduplicator:
		return ast.Equal(a.Keys, next.(*model.Deduplicator).Keys)
	case *model.Reorderer:
		return ast.Equal(a.Keys, next.(*model.Reorderer).Keys)
	case *model.Correlator:
		b := next.(*model.Correlator)
		return ast.Equal(a.Where, b.Where) && a.Latest == b.Latest
	case *model.Window:
		b := next.(*model.Window)
		return ast.Equal(a.Width, b.Width) && ast.Equal(a.Step, b.Step) && ast.Equal(a.MaxState, b.MaxState) &&
			slices.EqualFunc(a.Routes, b.Routes, func(x, y ast.Route) bool { return ast.Equal(x.Construction.Set, y.Construction.Set) })
	case *model.Inferencer:
		b := next.(*model.Inferencer)
		return ast.Equal(a.Model, b.Model) && ast.Equal(a.File, b.File) && ast.Equal(a.Tensors, b.Tensors) && ast.Equal(a.Output, b.Output)
	case *model.WASM:
		b := next.(*model.WASM)
		return ast.Equal(a.Module, b.Module) && ast.Equal(a.File, b.File) && ast.Equal(a.MaxMemory, b.MaxMemory)
	}
	return true
}

// Drains reports whether the change takes away or exchanges something that
// executes, so that the work in its way has to finish first.
func (c *Candidate) Drains(state *catalog.State) bool {
	if d, ok := state.Domain(c.domain); !ok || !d.Running {
		return false
	}
	for m := range state.Models(c.domain) {
		if !Executes(m.Kind) {
			continue
		}
		at, kept := c.find(m.Key)
		if !kept || c.entries[at].created && !model.Equal(c.entries[at].entity, m.Definition) && !inPlace(m.Definition, c.entries[at].entity) {
			return true
		}
	}
	return false
}

// inPlace reports whether what executes goes on as the other form without coming to
// rest: what it holds is kept, and nobody is told that it failed.
func inPlace(old, next model.Entity) bool {
	if replaced(old.Kind(), old, next) != Dynamic {
		return false
	}
	if _, processor := old.(*model.Junction); !processor {
		return true
	}
	actions := func(x, y ast.Route) bool { return x.OnError.Action == y.OnError.Action }
	return slices.EqualFunc(model.ShapeOf(old).Routes, model.ShapeOf(next).Routes, actions)
}
