package decide

import (
	"plexus/engine/catalog"
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
		e := &c.entries[i]
		old, ok := state.Model(c.domain, e.key)
		if !e.created || !ok || model.Equal(old.Definition, e.entity) {
			continue
		}
		level = max(level, replaced(e.key.Kind, old.Definition, e.entity))
	}
	return level
}

// replaced is the level of one entity exchanged for another of its name.
func replaced(kind vocab.EntityKind, old, next model.Entity) Level {
	switch kind {
	case vocab.EntitySchema, vocab.EntityWireJSON, vocab.EntityCodec, vocab.EntityClient, vocab.EntityVHost, vocab.EntityEndpoint,
		vocab.EntityUDF:
		return DomainPause
	case vocab.EntityPlacement:
		return Dynamic
	case vocab.EntityRelay:
		if old.(*model.Relay).Schema.Text != next.(*model.Relay).Schema.Text {
			return DomainPause
		}
		return Dynamic
	}
	return EntityPause
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
		if !kept || c.entries[at].created && !model.Equal(c.entries[at].entity, m.Definition) {
			return true
		}
	}
	return false
}
