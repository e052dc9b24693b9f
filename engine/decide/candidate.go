package decide

import (
	"iter"
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// Candidate is the complete set of definitions of one domain with a batch of
// mutations applied to it, in written order. It is never visible outside the
// planner.
type Candidate struct {
	state    *catalog.State
	domain   string
	expected uint64
	pace     *model.Pace // nil for an unpaced domain
	// placement is the default of the domain.
	placement vocab.PlacementPolicy
	entries   []*entry // by kind and name
	offline   bool     // see Offline
	changes   []Change
	// dropped remembers what the batch removed: a reference to it is its use, not
	// a missing name.
	dropped map[catalog.Key]bool
	// resolved tells what VERSION LATEST of the last created definition was.
	resolved string

	// sound says that the definitions were found valid before the batch, as
	// everything committed was: then only what the batch touches is judged.
	sound bool
	undo  []undone // what the batch changed, in order
	ties  *ties    // nil until somebody asks
}

// Change is one mutation of a batch.
type Change struct {
	key     catalog.Key
	created model.Entity // nil: it is dropped
}

// entry is one definition of the candidate.
type entry struct {
	key    catalog.Key
	entity model.Entity
	// created says that the definition comes from the batch, so its spans point
	// into the submitted text. statement counts the batch's statements from 0.
	created   bool
	statement int

	refs []model.Ref   // of the entity
	keys []catalog.Key // what they name, see names
}

// names lists what the entity names, each key once.
func (e *entry) names() []catalog.Key {
	if e.keys == nil {
		e.keys = namedBy(e.entity, e.refs)
	}
	return e.keys
}

// NewCandidate returns the definitions of a domain as they are committed.
func NewCandidate(state *catalog.State, domain string) (*Candidate, *ast.Diagnostic) {
	d, ok := state.Domain(domain)
	if !ok {
		return nil, ast.Errorf(CodeDomainMissing, vocab.Span{}, "domain '%s' does not exist", domain)
	}
	c := &Candidate{state: state, pace: d.Pace, domain: domain, expected: d.Definition, placement: d.Placement, dropped: map[catalog.Key]bool{}, sound: true}
	for m := range state.Models(domain) {
		c.entries = append(c.entries, &entry{key: m.Key, entity: m.Definition, refs: m.References()})
	}
	return c, nil
}

// Create adds an entity. Exists is for the caller to ask first where IF NOT
// EXISTS was written.
func (c *Candidate) Create(e model.Entity, span vocab.Span, statement int) *ast.Diagnostic {
	key := catalog.Key{Kind: e.Kind(), Name: e.EntityName()}
	c.resolved = ""
	at, ok := c.find(key)
	if ok {
		return about(key, ast.Errorf(CodeExists, span, "%s already exists", key))
	}
	e = c.resolve(c.settled(e))
	c.insert(at, &entry{key: key, entity: e, created: true, statement: statement, refs: model.References(e)})
	c.undo = append(c.undo, undone{&entry{key: key}, true})
	delete(c.dropped, key)
	c.changes = append(c.changes, Change{key, e})
	if key.Kind == vocab.EntityEndpoint {
		c.settle()
	}
	return nil
}

// Drop removes an entity. What still refers to it is found by Validate, because a
// later statement of the batch may remove that too.
func (c *Candidate) Drop(key catalog.Key, span vocab.Span) *ast.Diagnostic {
	at, ok := c.find(key)
	if !ok {
		return about(key, ast.Errorf(ast.CodeRefMissing, span, "%s does not exist", key).WithHint("%s", c.meant(key)))
	}
	c.undo = append(c.undo, undone{c.remove(at), false})
	c.dropped[key] = true
	c.changes = append(c.changes, Change{key, nil})
	return nil
}

// Exists reports whether the candidate holds an entity, or the domain a resource.
func (c *Candidate) Exists(key catalog.Key) bool {
	if key.Kind == vocab.EntityResource {
		_, ok := c.state.Resource(c.domain, key.Name)
		return ok
	}
	_, ok := c.find(key)
	return ok
}

// Step returns the batch as a command step.
func (c *Candidate) Step() *catalogpb.Step {
	return Step(c.domain, c.expected, c.changes)
}

// Step returns changes of a domain as a command step.
func Step(domain string, expected uint64, changes []Change) *catalogpb.Step {
	list := make([]*catalogpb.ModelChange, len(changes))
	for i, x := range changes {
		list[i] = &catalogpb.ModelChange{Op: catalogpb.ModelChange_DROP, Kind: x.key.Kind.String(), Name: x.key.Name}
		if x.created != nil {
			list[i].Op, list[i].Text = catalogpb.ModelChange_CREATE, render.Entity(x.created)
		}
	}
	return &catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{
		Domain: domain, Expected: expected, Changes: list,
	}}}
}

// Changes returns the batch as it was written.
func (c *Candidate) Changes() []Change { return c.changes }

// Definition is the index that last changed the committed definitions.
func (c *Candidate) Definition() uint64 { return c.expected }

// Empty reports whether the batch changes nothing.
func (c *Candidate) Empty() bool { return len(c.changes) == 0 }

func (c *Candidate) find(key catalog.Key) (int, bool) {
	return slices.BinarySearchFunc(c.entries, key, func(e *entry, k catalog.Key) int { return compareKeys(e.key, k) })
}

// kind yields the entries of a kind, by name.
func (c *Candidate) kind(kind vocab.EntityKind) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		at, _ := c.find(catalog.Key{Kind: kind})
		for ; at < len(c.entries) && c.entries[at].key.Kind == kind; at++ {
			if !yield(c.entries[at]) {
				return
			}
		}
	}
}

func (c *Candidate) get(kind vocab.EntityKind, name string) (model.Entity, bool) {
	at, ok := c.find(catalog.Key{Kind: kind, Name: name})
	if !ok {
		return nil, false
	}
	return c.entries[at].entity, true
}

// lookup returns an entity of the kind that E is.
func lookup[E model.Entity](c *Candidate, kind vocab.EntityKind, name string) (e E, ok bool) {
	found, ok := c.get(kind, name)
	if !ok {
		return e, false
	}
	e, ok = found.(E)
	return e, ok
}

func (c *Candidate) schema(name string) (*vocab.Schema, bool) {
	s, ok := lookup[*model.Schema](c, vocab.EntitySchema, name)
	if !ok {
		return nil, false
	}
	return &s.Schema, true
}

// relaySchema returns the schema of a relay.
func (c *Candidate) relaySchema(name string) (*vocab.Schema, bool) {
	r, ok := lookup[*model.Relay](c, vocab.EntityRelay, name)
	if !ok {
		return nil, false
	}
	return c.schema(r.Schema.Text)
}

func (c *Candidate) codec(name string) (*model.Codec, bool) {
	return lookup[*model.Codec](c, vocab.EntityCodec, name)
}

func compareKeys(a, b catalog.Key) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}

func about(key catalog.Key, d *ast.Diagnostic) *ast.Diagnostic {
	d.Entity = ast.Entity{Kind: key.Kind, Name: key.Name}
	return d
}
