package handofftest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Domain is the only domain.
const Domain = "orders"

// Entities are the operators of the domain; the last one has a large state.
var Entities = []quiesce.Entity{
	{Kind: vocab.EntityJunction, Name: "one"}, {Kind: vocab.EntityJunction, Name: "two"}, {Kind: vocab.EntityJunction, Name: "large"},
}

// Assignment is one operator in a committed schedule.
type Assignment struct {
	Owner      string
	Transition primitives.UUID
	From       string
	Forced     bool
	Outcomes   []handoff.Outcome
	Index      uint64 // of the command that set it
	Generation uint64
	Least      uint64 // a forced recovery found a value as high as this
}

// Schedule is a committed schedule. It is immutable.
type Schedule struct {
	Index     uint64
	Assigned  map[quiesce.Entity]Assignment
	Completed map[primitives.UUID]bool
}

// Catalog plays consensus: one order of commits, one leader per tenure, and
// answers that get lost.
type Catalog struct {
	Schedule *Schedule
	tenure   uint64
	leader   string
}

func newCatalog(nodes []string) *Catalog {
	s := &Schedule{Index: 1, Assigned: map[quiesce.Entity]Assignment{}, Completed: map[primitives.UUID]bool{}}
	for i, e := range Entities {
		s.Assigned[e] = Assignment{Owner: nodes[i%len(nodes)], Index: 1, Generation: 1}
	}
	return &Catalog{Schedule: s}
}

var errAnswerLost = errors.New("the answer was lost")

// propose changes the schedule if the tenure is the current one when its turn
// comes. Each step may take a while, and the answer may get lost.
func (n *node) propose(ctx context.Context, tenure uint64, change func(next *Schedule) bool) error {
	if err := n.pause(ctx, 200*time.Millisecond); err != nil {
		return err
	}
	c := n.c.Catalog
	committed := false
	if c.tenure == tenure {
		next := &Schedule{Index: c.Schedule.Index + 1, Assigned: map[quiesce.Entity]Assignment{}, Completed: map[primitives.UUID]bool{}}
		for e, a := range c.Schedule.Assigned { //plexus:orderfree it copies
			next.Assigned[e] = a
		}
		for id := range c.Schedule.Completed { //plexus:orderfree it copies
			next.Completed[id] = true
		}
		if committed = change(next); committed {
			c.Schedule = next
		}
	}
	if err := n.pause(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	switch {
	case n.draw(8) == 0:
		return errAnswerLost
	case !committed:
		return handoff.ErrNotCommitted
	}
	return nil
}

// target names the schedule that moves make.
func target(base uint64, moves []handoff.Move) [32]byte {
	return sha256.Sum256(fmt.Append(nil, base, moves))
}

// identity is the state of an operator that a schedule publishes.
func (s *Schedule) identity(e quiesce.Entity) state.Identity {
	return state.Identity{
		Domain: Domain, Entity: e.Kind.Snake(), Name: e.Name, Component: state.WindowContents, Fingerprint: [32]byte{1},
		Generation: s.Assigned[e].Generation,
	}
}

// elect gives the cluster a leader among the processes that run, some time after
// it lost one, and another one now and then.
func (c *Cluster) elect() {
	alive := func(name string) bool { return c.alive[name] != nil }
	switch {
	case alive(c.Catalog.leader) && c.draw(400) > 0:
		return
	case c.Elapsed()-c.seen < 2*time.Second && !alive(c.Catalog.leader):
		return
	}
	for range c.names {
		if name := c.names[c.draw(uint64(len(c.names)))]; alive(name) {
			c.Catalog.leader = name
			c.Catalog.tenure++
			return
		}
	}
}
