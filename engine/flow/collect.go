package flow

import (
	"plexus/engine/ack"
	"plexus/engine/decide"
	"plexus/primitives"
)

// Collected gathers the batches of one relay in front of an emitter (COLLECT
// FOR). It belongs to the emitter's task.
type Collected struct {
	d      *Domain
	drain  *Drain
	Relay  string
	buffer buffer
}

// Collect returns an empty collector for a relay.
func (d *Domain) Collect(relay string, plan *decide.CollectPlan, drain *Drain) *Collected {
	return &Collected{d: d, drain: drain, Relay: relay, buffer: buffer{flush: collectBoundary(plan)}}
}

// Add takes a batch over.
func (c *Collected) Add(b *Carrier) { c.buffer.append(b, c.d.now()) }

// Due returns when the set is released: at once while the emitter drains, Never
// while it is empty.
func (c *Collected) Due() primitives.Instant {
	if !c.buffer.empty() && c.drain.On() {
		return c.buffer.since
	}
	return c.buffer.due()
}

// Release returns the collected batches as one, and the number of batches it
// was. What one column could not hold stays for the next release.
func (c *Collected) Release() (*Carrier, int, error) {
	parts := c.buffer.take()
	joined, rest, err := join(c.d.deps.Memory, parts)
	if err != nil {
		for _, p := range parts {
			p.Fail(c.d.now(), reasonInternal)
		}
		return nil, len(parts), err
	}
	c.buffer.putBack(rest)
	return joined, len(parts) - len(rest), nil
}

// Empty reports whether nothing is collected.
func (c *Collected) Empty() bool { return c.buffer.empty() }

// Pending returns the shares of the collected rows, for keepalives.
func (c *Collected) Pending() []*ack.Set {
	var sets []*ack.Set
	for _, b := range c.buffer.parts {
		if b.Acks != nil {
			sets = append(sets, b.Acks)
		}
	}
	return sets
}

// Drop fails what is collected and returns the number of batches: the emitter
// ends.
func (c *Collected) Drop() int {
	parts := c.buffer.take()
	for _, b := range parts {
		b.Fail(c.d.now(), ack.Dropped)
	}
	return len(parts)
}
