package decide

import (
	"fmt"

	"plexus/engine/catalog"
	"plexus/nspl/model"
)

// Plan builds what a domain executes from its committed definitions. They passed
// Validate before they were committed, so an error is a defect of this build or
// of the stored state.
func Plan(state *catalog.State, domain string) (*Revision, error) {
	d, ok := state.Domain(domain)
	if !ok {
		return nil, fmt.Errorf("plan domain '%s': it does not exist", domain)
	}
	c, missing := NewCandidate(state, domain)
	if missing != nil {
		return nil, missing
	}
	if invalid := c.Validate(); invalid != nil {
		return nil, fmt.Errorf("plan domain '%s': %w", domain, invalid)
	}
	r := &Revision{Domain: domain, Number: d.Runtime, Running: d.Running}
	for i := range c.entries {
		p := compiler{c: c, f: &found{key: c.entries[i].key}}
		switch x := c.entries[i].entity.(type) {
		case *model.Relay:
			schema, _ := c.relaySchema(x.Name)
			r.Relays = append(r.Relays, RelayPlan{Name: x.Name, Schema: schema, CapacityBatches: int(x.Capacity)})
		case *model.Endpoint:
			r.Endpoints = append(r.Endpoints, *p.endpoint(x))
		case *model.Ingestor:
			r.Ingestors = append(r.Ingestors, p.ingestor(x))
		case *model.Junction:
			r.Junctions = append(r.Junctions, p.junction(x))
		case *model.Emitter:
			r.Emitters = append(r.Emitters, p.emitter(x))
		}
	}
	return r, nil
}
