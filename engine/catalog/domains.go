package catalog

import (
	"strings"

	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/vocab"
)

func (t *transition) createDomain(c *catalogpb.CreateDomain) *Refusal {
	if _, ok := t.state.Domain(c.GetName()); ok {
		return refuse(Exists, "DOMAIN '%s' already exists", c.GetName())
	}
	if c.GetName() == "" || strings.Contains(c.GetName(), "\x00") {
		return refuse(Invalid, "%q names no domain", c.GetName())
	}
	placement, ok := placementPolicy(c.GetPlacement())
	if !ok {
		return refuse(Invalid, "unknown placement policy '%s'", c.GetPlacement())
	}
	t.setDomain(&Domain{
		Name: c.GetName(), Definition: t.index, Runtime: t.index, Positions: t.index, Placement: placement, Pace: newPace(c.GetPace()),
	})
	return nil
}

// alterDomain changes an input of planning, and nothing that executes by itself.
func (t *transition) alterDomain(c *catalogpb.AlterDomain, lease uint64) *Refusal {
	placement, ok := placementPolicy(c.GetPlacement())
	if !ok {
		return refuse(Invalid, "unknown placement policy '%s'", c.GetPlacement())
	}
	return t.withDomain(c.GetDomain(), lease, func(d *Domain) *Refusal {
		d.Placement, d.Definition = placement, t.index
		return nil
	})
}

func (t *transition) dropDomain(c *catalogpb.DropDomain, lease uint64) *Refusal {
	return t.withDomain(c.GetName(), lease, func(d *Domain) *Refusal {
		if d.Running {
			return refuse(DomainState, "domain '%s' is running; STOP it first", d.Name)
		}
		for x := range t.state.ActiveTransactions() {
			if x.Domain == d.Name {
				return refuse(DomainState, "transaction %s of user '%s' is open on domain '%s'", x.ID, x.Owner, d.Name)
			}
		}
		for key, m := range t.state.models.prefix(d.Name + "\x00") {
			t.state.models = t.state.models.delete(key)
			t.models[key] = ModelEffect{Domain: d.Name, Key: m.Key, Dropped: true}
		}
		t.dropResources(d.Name)
		t.state.schedules = t.state.schedules.delete(d.Name)
		t.sweepHandoffs(d.Name)
		t.state.domains = t.state.domains.delete(d.Name)
		t.domains[d.Name] = true
		return errDropped
	})
}

// errDropped tells withDomain that the domain is gone, which is no refusal.
var errDropped = &Refusal{}

func (t *transition) setRunning(c *catalogpb.SetRunning, lease uint64) *Refusal {
	return t.withDomain(c.GetDomain(), lease, func(d *Domain) *Refusal {
		switch {
		case d.Running && c.GetRunning():
			return refuse(DomainState, "domain '%s' is already running", d.Name)
		case !d.Running && !c.GetRunning():
			return refuse(DomainState, "domain '%s' is not running", d.Name)
		}
		d.Running = c.GetRunning()
		d.Runtime = t.index
		if d.Running {
			d.Generation++
		}
		if c.GetFresh() {
			d.Positions = t.index
		}
		return nil
	})
}

// withDomain changes a copy of a domain, which the caller must be allowed to
// write, and stores it unless f refused.
func (t *transition) withDomain(name string, lease uint64, f func(*Domain) *Refusal) *Refusal {
	old, ok := t.state.Domain(name)
	if !ok {
		return refuse(DomainMissing, "domain '%s' does not exist", name)
	}
	if refused := t.leased(old, lease); refused != nil {
		return refused
	}
	d := *old
	switch refused := f(&d); refused {
	case nil:
		t.setDomain(&d)
		return nil
	case errDropped:
		return nil
	default:
		return refused
	}
}

func (t *transition) setDomain(d *Domain) {
	t.state.domains = t.state.domains.set(d.Name, d)
	t.domains[d.Name] = true
}

// placementPolicy reads the words of a policy; none is the default.
func placementPolicy(words string) (vocab.PlacementPolicy, bool) {
	if words == "" {
		return vocab.PlacementNeutral, true
	}
	for _, p := range vocab.PlacementPolicies() {
		if p.String() == words {
			return p, true
		}
	}
	return 0, false
}

func (d *Domain) record() *catalogpb.DomainRecord {
	record := &catalogpb.DomainRecord{
		Name: d.Name, Running: d.Running,
		Generation: d.Generation, Definition: d.Definition, Runtime: d.Runtime, Positions: d.Positions,
		Pace: PaceRecord(d.Pace),
	}
	if d.Placement != vocab.PlacementNeutral {
		record.Placement = d.Placement.String()
	}
	if d.Lease != nil {
		record.Lease = &catalogpb.Lease{Owner: d.Lease.Owner, Index: d.Lease.Index}
	}
	return record
}

func (l *Loader) addDomain(record *catalogpb.DomainRecord) error {
	placement, ok := placementPolicy(record.GetPlacement())
	if !ok {
		return recordError("placement policy %q", record.GetPlacement())
	}
	d := &Domain{
		Name: record.GetName(), Running: record.GetRunning(), Generation: record.GetGeneration(), Definition: record.GetDefinition(),
		Runtime: record.GetRuntime(), Positions: record.GetPositions(), Placement: placement,
		Pace: newPace(record.GetPace()),
	}
	if held := record.GetLease(); held != nil {
		d.Lease = &Lease{Owner: held.GetOwner(), Index: held.GetIndex()}
	}
	l.state.domains = l.state.domains.set(d.Name, d)
	return nil
}
