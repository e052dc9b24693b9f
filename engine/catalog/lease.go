package catalog

import (
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives/planted"
)

// Lease is a held domain mutation lease. While one is held, only its owner may
// write the definition, models, schedule or lifecycle of the domain.
type Lease struct {
	Owner string // as in messages, such as: transaction 0199a1c2-...
	Index uint64 // of the command that acquired it
}

func (t *transition) acquireLease(c *catalogpb.AcquireLease) *Refusal {
	d, ok := t.state.Domain(c.GetDomain())
	switch {
	case !ok:
		return refuse(DomainMissing, "domain '%s' does not exist", c.GetDomain())
	case c.GetOwner() == "":
		return refuse(Invalid, "a lease of domain '%s' needs an owner", d.Name)
	case d.Lease != nil && !planted.Active(planted.IgnoreLease):
		return d.held()
	}
	t.state.setLease(d, &Lease{Owner: c.GetOwner(), Index: t.index})
	return nil
}

func (t *transition) releaseLease(c *catalogpb.ReleaseLease) *Refusal {
	d, ok := t.state.Domain(c.GetDomain())
	switch {
	case !ok:
		return refuse(DomainMissing, "domain '%s' does not exist", c.GetDomain())
	case d.Lease == nil || d.Lease.Index != c.GetIndex() || d.Lease.Owner != c.GetOwner():
		return refuse(Conflict, "lease %d of domain '%s' is not held", c.GetIndex(), d.Name)
	}
	t.state.setLease(d, nil)
	return nil
}

// setLease changes nothing that executes, so it is no effect on the domain.
func (s *State) setLease(d *Domain, l *Lease) {
	changed := *d
	changed.Lease = l
	s.domains = s.domains.set(d.Name, &changed)
}

// held is the refusal of everybody but the owner.
func (d *Domain) held() *Refusal {
	return refuse(Conflict, "domain '%s' is being changed by %s", d.Name, d.Lease.Owner)
}

// leased checks the lease that a write to a domain presents. The lease of a
// command that acquired it itself cannot be known before it is applied.
func (t *transition) leased(d *Domain, presented uint64) *Refusal {
	switch {
	case planted.Active(planted.IgnoreLease):
	case d.Lease == nil && presented == 0:
	case d.Lease == nil:
		return refuse(Conflict, "lease %d of domain '%s' is not held", presented, d.Name)
	case d.Lease.Index != presented && d.Lease.Index != t.index:
		return d.held()
	}
	return nil
}
