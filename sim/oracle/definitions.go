package oracle

import (
	"cmp"
	"fmt"

	"plexus/engine/observe"
)

// Definitions checks that the changes of one command are told in one order,
// whatever the machine: by domain, kind and name.
type Definitions struct {
	fail Fail
	last observe.Event
}

// NewDefinitions returns an oracle for one process.
func NewDefinitions(fail Fail) *Definitions { return &Definitions{fail: fail} }

// Observe implements observe.Tap.
func (o *Definitions) Observe(e observe.Event) {
	if e.Kind != observe.DefinitionChanged {
		return
	}
	last := o.last
	o.last = e
	if e.ID == last.ID && cmp.Or(cmp.Compare(last.Domain, e.Domain), cmp.Compare(last.Row, e.Row), cmp.Compare(last.Name, e.Name)) >= 0 {
		// Which two is of no use, and another each time.
		o.fail("effects-in-order", fmt.Sprintf("the changes of command %d are not told in the order of their names", e.ID))
	}
}

var _ observe.Tap = (*Definitions)(nil)
