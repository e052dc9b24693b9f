package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// The verdict on an entity follows from the entity, from what it names, from what
// that names in turn, and from those with which it shares something that only one
// of them can have. So what a change touches is judged by judging what is tied to
// it; the rest of a sound candidate stays sound. Checks that look at more than this
// belong behind the stages, in judge.

// ties tell who depends on whom.
type ties struct {
	users   map[catalog.Key][]catalog.Key // who names an entity, in no order
	sharers map[share][]catalog.Key
}

// share is something that two entities cannot both have.
type share struct{ of, what string }

// shares lists what an entity has for itself.
func shares(e model.Entity) (list []share) {
	switch x := e.(type) {
	case *model.Endpoint:
		list = append(list, share{"path of " + x.VHost.Text, x.Path})
	case *model.Ingestor:
		if x.Source.Endpoint.Text != "" {
			list = append(list, share{"endpoint", x.Source.Endpoint.Text})
		}
		if topic := x.Source.Names.Get("TOPIC"); topic != "" && x.Source.Entity == vocab.SourceKafkaTopic {
			list = append(list, share{"topic", topic})
		}
	}
	return list
}

// named lists what an entity names, each key once. A member of a placement may be
// of any kind that executes.
func namedBy(e model.Entity, refs []model.Ref) []catalog.Key {
	list := make([]catalog.Key, 0, len(refs))
	for _, r := range refs {
		list = append(list, catalog.Key{Kind: r.Kind, Name: r.Name})
	}
	if x, ok := e.(*model.Placement); ok {
		list = list[:0]
		for _, m := range x.Members() {
			for _, kind := range operatorKinds {
				list = append(list, catalog.Key{Kind: kind, Name: m.Text})
			}
		}
	}
	slices.SortFunc(list, compareKeys)
	return slices.Compact(list)
}

// tied returns the ties of the candidate, which follow its changes from now on.
func (c *Candidate) tied() *ties {
	if c.ties == nil {
		c.ties = &ties{users: make(map[catalog.Key][]catalog.Key, len(c.entries)), sharers: map[share][]catalog.Key{}}
		for i := range c.entries {
			c.ties.add(c.entries[i])
		}
	}
	return c.ties
}

func (t *ties) add(e *entry) {
	for _, key := range e.names() {
		t.users[key] = append(t.users[key], e.key)
	}
	for _, s := range shares(e.entity) {
		t.sharers[s] = append(t.sharers[s], e.key)
	}
}

func (t *ties) remove(e *entry) {
	for _, key := range e.names() {
		without(t.users, key, e.key)
	}
	for _, s := range shares(e.entity) {
		without(t.sharers, s, e.key)
	}
}

// without takes a key out of a list of a table.
func without[K comparable](table map[K][]catalog.Key, at K, key catalog.Key) {
	list := table[at]
	if i := slices.Index(list, key); i >= 0 {
		list[i] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		delete(table, at)
		return
	}
	table[at] = list
}

// scope is what has to be judged of a candidate.
type scope struct {
	whole   bool
	touched []catalog.Key // created or dropped by the batch, each once
	entries []int         // tied to what was touched, ascending
}

// everything is the scope of a candidate that nobody has judged before.
var everything = scope{whole: true}

// scope returns what the verdict on the batch depends on.
func (c *Candidate) scope() scope {
	if !c.sound {
		return everything
	}
	s := scope{touched: c.touched()}
	seen := make(map[catalog.Key]bool, len(s.touched))
	var queue []catalog.Key
	push := func(key catalog.Key) {
		if !seen[key] {
			seen[key] = true
			queue = append(queue, key)
		}
	}
	t := c.tied()
	for _, key := range s.touched {
		push(key)
	}
	for len(queue) > 0 {
		key := queue[0]
		queue = queue[1:]
		for _, user := range t.users[key] {
			push(user)
		}
		at, ok := c.find(key)
		if !ok {
			continue
		}
		s.entries = append(s.entries, at)
		for _, sh := range shares(c.entries[at].entity) {
			for _, other := range t.sharers[sh] {
				push(other)
			}
		}
	}
	slices.Sort(s.entries)
	return s
}

// touched lists what the batch created or dropped, each key once.
func (c *Candidate) touched() []catalog.Key {
	list := make([]catalog.Key, 0, len(c.undo))
	for i := range c.undo {
		list = append(list, c.undo[i].entry.key)
	}
	slices.SortFunc(list, compareKeys)
	return slices.Compact(list)
}

// causes lists what of the touched is behind a fault of an entity: itself, or what
// it names.
func (c *Candidate) causes(key catalog.Key) (list []catalog.Key) {
	touched := c.touched()
	seen := map[catalog.Key]bool{key: true}
	for queue := []catalog.Key{key}; len(queue) > 0; queue = queue[1:] {
		if _, ok := slices.BinarySearchFunc(touched, queue[0], compareKeys); ok {
			list = append(list, queue[0])
		}
		at, ok := c.find(queue[0])
		if !ok {
			continue
		}
		next := c.entries[at].names()
		for _, s := range shares(c.entries[at].entity) {
			next = append(slices.Clip(next), c.tied().sharers[s]...)
		}
		for _, k := range next {
			if !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
		}
	}
	return list
}

// undone is how one change of the batch is taken back.
type undone struct {
	*entry
	created bool
}

// Revert takes the whole batch back.
func (c *Candidate) Revert() {
	for _, u := range slices.Backward(c.undo) {
		at, _ := c.find(u.key)
		if u.created {
			c.remove(at)
		} else {
			c.insert(at, u.entry)
		}
	}
	c.begin()
}

// Accept makes the batch what was there before, without a state that holds it.
func (c *Candidate) Accept() {
	for i := range c.undo {
		if at, held := c.find(c.undo[i].key); held {
			c.entries[at].created, c.entries[at].statement = false, 0
		}
	}
	c.begin()
}

// begin forgets the batch.
func (c *Candidate) begin() {
	c.undo, c.changes, c.resolved = nil, nil, ""
	clear(c.dropped)
}

// Committed goes on from the state in which the batch was committed, as a new
// candidate would.
func (c *Candidate) Committed(state *catalog.State) {
	d, ok := state.Domain(c.domain)
	if !ok {
		return
	}
	for _, key := range c.touched() {
		if at, held := c.find(key); held {
			m, _ := state.Model(c.domain, key)
			e := c.entries[at]
			e.entity, e.refs, e.created, e.statement = m.Definition, m.References(), false, 0 // it names what it named
		}
	}
	c.state, c.expected, c.pace, c.placement = state, d.Definition, d.Pace, d.Placement
	c.begin()
}

func (c *Candidate) insert(at int, e *entry) {
	c.entries = slices.Insert(c.entries, at, e)
	if c.ties != nil {
		c.ties.add(c.entries[at])
	}
}

func (c *Candidate) remove(at int) *entry {
	e := c.entries[at]
	if c.ties != nil {
		c.ties.remove(e)
	}
	c.entries = slices.Delete(c.entries, at, at+1)
	return e
}
