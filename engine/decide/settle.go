package decide

import (
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// FROM ENDPOINT leaves the protocol to the endpoint. It is settled as soon as both
// stand in the candidate, in whichever order a batch declares them, so that what is
// stored names the protocol.

// settled returns an entity with what the candidate already decides about it.
func (c *Candidate) settled(e model.Entity) model.Entity {
	in, ok := e.(*model.Ingestor)
	if !ok || !in.Source.ByEndpoint {
		return e
	}
	endpoint, ok := lookup[*model.Endpoint](c, vocab.EntityEndpoint, in.Source.Endpoint.Text)
	if !ok {
		return e
	}
	return in.Settled(speaks(endpoint))
}

// speaks is the TYPE of an endpoint.
func speaks(e *model.Endpoint) vocab.EndpointType { return e.Type }

// settle decides about the ingestors of the batch that waited for an endpoint.
func (c *Candidate) settle() {
	for i := range c.entries {
		e := c.entries[i]
		next := c.settled(e.entity)
		if !e.created || next == e.entity {
			continue
		}
		e.entity, e.refs, e.keys = next, model.References(next), nil // of the same names
		for at := range c.changes {
			if x := &c.changes[at]; x.key == e.key && x.created != nil {
				x.created = next
			}
		}
	}
}
