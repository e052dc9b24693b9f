package quiescetest

import (
	"context"
	"errors"
	"slices"

	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
)

// Place is an operator of the test's graph.
type Place struct {
	Entity quiesce.Entity
	Node   string
	Next   []int // places its rows go to
}

// row is one unit of work, which is at one place or on its way between two.
type row struct {
	at     int
	root   int // the source that waits for it, -1 for none
	buffer int // the flush generation that lets it go; 0 moves by itself
}

// Flow is a graph whose rows move between the nodes of a simulated cluster. It is
// the truth that looks are compared with: it lives outside every node.
type Flow struct {
	Domain string
	Places []Place

	rows   []*row
	counts []uint64 // admissions by place
	engine []*Engine
	draw   func(n uint64) uint64
	Done   int
}

// NewFlow returns a graph without rows. draw decides where rows go.
func NewFlow(domain string, places []Place, draw func(n uint64) uint64) *Flow {
	return &Flow{Domain: domain, Places: places, counts: make([]uint64, len(places)), draw: draw}
}

// Engine is the running domain of one process. It is the quiesce.Domain.
type Engine struct {
	flow  *Flow
	node  string
	held  []*Held
	Fault func() error // refuses an engage, if set
}

// Start replaces the engine of a node by that of a new process: whatever an older
// one held is open, and its rows are gone.
func (f *Flow) Start(node string) *Engine {
	f.Stop(node)
	e := &Engine{flow: f, node: node}
	f.engine = append(f.engine, e)
	return e
}

// Stop ends the engine of a node.
func (f *Flow) Stop(node string) {
	f.engine = slices.DeleteFunc(f.engine, func(e *Engine) bool { return e.node == node })
	f.rows = slices.DeleteFunc(f.rows, func(r *row) bool {
		return f.Places[r.at].Node == node || r.root >= 0 && f.Places[r.root].Node == node
	})
}

// Domain implements quiesce.Local.
func (e *Engine) Domain(name string, _ uint64) (quiesce.Domain, error) {
	if name != e.flow.Domain {
		return nil, nil
	}
	return e, nil
}

// Held is one engaged scope.
type Held struct {
	e        *Engine
	scope    quiesce.Scope
	flush    uint64
	frozen   bool
	released bool
}

var errEngaged = errors.New("released twice")

// Engage implements quiesce.Domain.
func (e *Engine) Engage(_ context.Context, s quiesce.Scope) (quiesce.Held, error) {
	if e.Fault != nil {
		if err := e.Fault(); err != nil {
			return nil, err
		}
	}
	h := &Held{e: e, scope: s}
	e.held = append(e.held, h)
	return h, nil
}

// Flush implements quiesce.Held.
func (h *Held) Flush(generation uint64) { h.flush = max(h.flush, generation) }

// Look implements quiesce.Held.
func (h *Held) Look() quiesce.Look {
	f := h.e.flow
	l := quiesce.Look{Flushed: h.flush}
	for i, p := range f.Places {
		if p.Node != h.e.node || !h.covers(p.Entity) {
			continue
		}
		l.Admitted += f.counts[i]
		n, roots := uint64(0), uint64(0)
		for _, r := range f.rows {
			if r.at == i {
				n++
			}
			if r.root == i {
				roots++
			}
		}
		if n > 0 {
			l.Blockers = append(l.Blockers, quiesce.Blocker{Entity: p.Entity, Work: quiesce.NodeBatches, Count: n})
		}
		if roots > 0 {
			l.Blockers = append(l.Blockers, quiesce.Blocker{Entity: p.Entity, Work: quiesce.Roots, Count: roots})
		}
	}
	return l
}

func (h *Held) covers(e quiesce.Entity) bool {
	return h.scope.Whole || slices.Contains(h.scope.Drain, e)
}

// Freeze implements quiesce.Held.
func (h *Held) Freeze(context.Context) error {
	h.frozen = true
	return nil
}

// Release implements quiesce.Held.
func (h *Held) Release() {
	if h.released {
		panic(errEngaged)
	}
	h.released = true
	h.e.held = slices.DeleteFunc(h.e.held, func(o *Held) bool { return o == h })
}

// Paused reports whether a source does not emit.
func (f *Flow) Paused(place int) bool {
	p := f.Places[place]
	return f.any(p.Node, func(s *quiesce.Scope) bool { return s.Whole || slices.Contains(s.Sources, p.Entity) })
}

// Closed reports whether a relay admits nothing.
func (f *Flow) Closed(place int) bool {
	p := f.Places[place]
	return f.any(p.Node, func(s *quiesce.Scope) bool {
		return p.Entity.Kind == vocab.EntityRelay && slices.Contains(s.Gates, p.Entity.Name)
	})
}

func (f *Flow) any(node string, match func(s *quiesce.Scope) bool) bool {
	for _, e := range f.engine {
		for _, h := range e.held {
			if e.node == node && match(&h.scope) {
				return true
			}
		}
	}
	return false
}

// Running reports whether a node has an engine.
func (f *Flow) Running(node string) bool {
	return slices.ContainsFunc(f.engine, func(e *Engine) bool { return e.node == node })
}

// Emit lets a source admit a row, if it may.
func (f *Flow) Emit(place int) {
	if f.Paused(place) || !f.Running(f.Places[place].Node) {
		return
	}
	r := &row{at: place, root: place}
	if f.draw(3) == 0 {
		r.root = -1
	}
	f.counts[place]++
	f.rows = append(f.rows, r)
}

// Step moves one row on, if it may move: into the next place, or out of the graph.
func (f *Flow) Step() {
	if len(f.rows) == 0 {
		return
	}
	i := int(f.draw(uint64(len(f.rows))))
	r := f.rows[i]
	if r.buffer > 0 && !f.flushed(r) {
		return
	}
	next := f.Places[r.at].Next
	if len(next) == 0 {
		f.rows = slices.Delete(f.rows, i, i+1)
		f.Done++
		return
	}
	to := next[f.draw(uint64(len(next)))]
	if f.Closed(to) || !f.Running(f.Places[to].Node) {
		return
	}
	r.at, r.buffer = to, int(f.draw(2))
	f.counts[to]++
}

// flushed reports whether a flush lets a buffered row go.
func (f *Flow) flushed(r *row) bool {
	p := f.Places[r.at]
	return !f.any(p.Node, func(*quiesce.Scope) bool { return true }) && f.draw(4) == 0 ||
		slices.ContainsFunc(f.engine, func(e *Engine) bool {
			return e.node == p.Node && slices.ContainsFunc(e.held, func(h *Held) bool { return h.flush > 0 })
		})
}

// Inside counts the rows that are at places of a scope, on nodes that run.
func (f *Flow) Inside(s *quiesce.Scope) (n int) {
	h := Held{scope: *s}
	for _, r := range f.rows {
		if h.covers(f.Places[r.at].Entity) || r.root >= 0 && h.covers(f.Places[r.root].Entity) {
			n++
		}
	}
	return n
}

// Tick lets sources emit and rows move.
func (f *Flow) Tick() {
	for i, p := range f.Places {
		if p.Entity.Kind == vocab.EntityIngestor && f.draw(3) == 0 {
			f.Emit(i)
		}
	}
	for range 1 + len(f.rows)/2 {
		f.Step()
	}
}
