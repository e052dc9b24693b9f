package catalog

import "fmt"

// Coherent says which promise the state breaks, whatever commands led to it; nil
// for none. Oracles ask.
func (s *State) Coherent() error {
	byRaft := map[uint64]string{}
	for n := range s.Nodes() {
		if other, ok := byRaft[n.RaftID]; ok || s.Removed(n.RaftID) || n.RaftID >= s.NextRaftID {
			return fmt.Errorf("node '%s' has raft id %d, which is also that of '%s', or was removed, or was not handed out", n.ID, n.RaftID, other)
		}
		byRaft[n.RaftID] = n.ID
	}
	for _, x := range s.schedules.all() {
		if err := s.schedulable(x); err != nil {
			return err
		}
	}
	for _, r := range s.resources.all() {
		if err := s.numbered(r); err != nil {
			return err
		}
	}
	for x := range s.Transactions() {
		if err := s.lively(x); err != nil {
			return err
		}
	}
	return s.settled()
}

// Respected says which domain was written by somebody else than the owner of its
// lease since the lease was taken (C5), nil for none. It judges the states that
// leaders lead to: a command that presents a lease without recording its effect
// looks the same as one that ignores it.
func (s *State) Respected() error {
	for d := range s.Domains() {
		if err := s.respected(d); err != nil {
			return err
		}
	}
	return nil
}

// numbered checks that a resource belongs to a domain and that its versions rise.
func (s *State) numbered(r *Resource) error {
	if _, ok := s.Domain(r.Domain); !ok {
		return fmt.Errorf("domain '%s' has resource '%s' and does not exist", r.Domain, r.Name)
	}
	for i, v := range r.Versions {
		if v.Number != uint64(i+1) || v.Number >= r.Next {
			return fmt.Errorf("resource '%s' of domain '%s' has version %d at place %d, and %d is next", r.Name, r.Domain, v.Number, i+1, r.Next)
		}
	}
	return nil
}

// schedulable checks that a schedule names what is defined, in order.
func (s *State) schedulable(x *Schedule) error {
	if _, ok := s.Domain(x.Domain); !ok {
		return fmt.Errorf("domain '%s' has a schedule and does not exist", x.Domain)
	}
	for i, a := range x.Assignments {
		if _, ok := s.Model(x.Domain, a.Key); !ok {
			return fmt.Errorf("the schedule of domain '%s' names %s, which does not exist", x.Domain, a.Key)
		}
		if i > 0 && x.Assignments[i-1].Compare(a.Key) >= 0 {
			return fmt.Errorf("the schedule of domain '%s' is out of order at %s", x.Domain, a.Key)
		}
	}
	return nil
}

// respected judges one domain. What tasks write has no record.
func (s *State) respected(d *Domain) error {
	if d.Lease == nil {
		return nil
	}
	written := []uint64{d.Definition, d.Runtime}
	if x, ok := s.Schedule(d.Name); ok {
		written = append(written, x.Index)
	}
	own, known := s.effectsOf(d.Lease.Owner)
	for _, index := range written {
		if known && index > d.Lease.Index && !own[index] {
			return fmt.Errorf("domain '%s' was written at index %d under the lease that %s holds since %d", d.Name, index, d.Lease.Owner, d.Lease.Index)
		}
	}
	return nil
}

// effectsOf returns the commands with effects of the owner of a lease, if it is one
// whose effects are recorded.
func (s *State) effectsOf(owner string) (own map[uint64]bool, known bool) {
	own = map[uint64]bool{}
	for x := range s.Unfinished() {
		if LeaseOwner(x.Reference) == owner {
			own[x.Effect], known = true, true
		}
	}
	for x := range s.ActiveTransactions() {
		if TransactionLeaseOwner(x.ID) != owner {
			continue
		}
		known = true
		for i := range x.Steps {
			own[x.Steps[i].Effect] = true
		}
	}
	return own, known
}

// lively checks that a transaction holds a lease exactly while it commits, and is
// where its steps say.
func (s *State) lively(x *Transaction) error {
	d, ok := s.Domain(x.Domain)
	held := ok && d.Lease != nil && d.Lease.Owner == TransactionLeaseOwner(x.ID)
	if held != (x.State == Committing) || held && d.Lease.Index != x.Lease {
		return fmt.Errorf("transaction %s is %s, and holds the lease of its domain: %t", x.ID, x.State, held)
	}
	if _, active := s.active.get(string(x.ID[:])); active != x.active() {
		return fmt.Errorf("transaction %s is %s, and listed as active: %t", x.ID, x.State, active)
	}
	if step, steps := x.Current(); x.State == Committed && step != steps || x.State == Committing && step == steps {
		return fmt.Errorf("transaction %s is %s at step %d of %d", x.ID, x.State, step, steps)
	}
	return nil
}

// settled checks that what finished holds nothing (C7).
func (s *State) settled() error {
	owners := map[string]string{}
	for d := range s.Domains() {
		if d.Lease != nil {
			owners[d.Lease.Owner] = d.Name
		}
	}
	for _, x := range s.executions.all() {
		if _, listed := s.unfinished.get(string(x.Reference[:])); listed == (x.Phase == Finished) {
			return fmt.Errorf("execution %s is in phase %d, and listed as unfinished: %t", x.Reference, x.Phase, listed)
		}
		if domain, holds := owners[LeaseOwner(x.Reference)]; holds && x.Phase == Finished {
			return fmt.Errorf("execution %s finished and holds domain '%s'", x.Reference, domain)
		}
	}
	return nil
}
