package transaction

import (
	"plexus/engine/catalog"
	"plexus/engine/decide"
)

// Draft returns what the statements of an open transaction make of a domain so far:
// the state behind their complete steps, and the candidate that the last run of
// model mutations builds on it, complete or not.
func Draft(v View, domain string, list []Statement) (*catalog.State, *decide.Candidate, *Fault) {
	b := &builder{state: v.State, cluster: v.Cluster, domain: domain, plan: &Plan{}, report: reporter{}}
	for i := range list {
		if fault := b.add(i, &list[i]); fault != nil {
			return nil, nil, fault
		}
	}
	if b.open != nil {
		return b.state, b.open, nil
	}
	c, missing := decide.NewCandidate(b.state, domain)
	if missing != nil {
		return nil, nil, nobody(missing)
	}
	return b.state, c, nil
}
