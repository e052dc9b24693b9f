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
	if invalid := c.judge(everything, 1); len(invalid) > 0 {
		return nil, fmt.Errorf("plan domain '%s': %w", domain, invalid[0])
	}
	r := &Revision{Domain: domain, Number: d.Runtime, Running: d.Running}
	if s, ok := state.Schedule(domain); ok {
		r.Schedule = s.Index
	}
	where := placements(state, domain)
	for i := range c.entries {
		at := where(c.entries[i].key)
		p := compiler{c: c, f: &found{key: c.entries[i].key}}
		switch x := c.entries[i].entity.(type) {
		case *model.Relay:
			schema, _ := c.relaySchema(x.Name)
			r.Relays = append(r.Relays, RelayPlan{Placement: at, Name: x.Name, Schema: schema, CapacityBatches: int(x.Capacity)})
		case *model.Endpoint:
			r.Endpoints = append(r.Endpoints, *p.endpoint(x))
		case *model.Ingestor:
			plan := p.ingestor(x)
			plan.Placement = at
			r.Ingestors = append(r.Ingestors, plan)
		case *model.Junction:
			plan := p.junction(x)
			plan.Placement = at
			r.Junctions = append(r.Junctions, plan)
		case *model.Emitter:
			plan := p.emitter(x)
			plan.Placement = at
			r.Emitters = append(r.Emitters, plan)
		}
	}
	return r, nil
}

// placements answers where the operators of a domain execute: nowhere without an
// entry in the schedule.
func placements(state *catalog.State, domain string) func(catalog.Key) Placement {
	s, _ := state.Schedule(domain)
	return func(key catalog.Key) Placement {
		a, ok := s.Assignment(key)
		switch {
		case ok && a.Everywhere:
			return Placement{Everywhere: true}
		case ok && a.Primary != "":
			return Placement{Owner: a.Primary}
		}
		return Placement{Owner: Nobody}
	}
}
