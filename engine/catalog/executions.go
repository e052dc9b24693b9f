package catalog

import (
	"iter"
	"slices"
	"time"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// Phase is how far an execution is.
type Phase uint8

// The phases. A reference that is not known is in none.
const (
	Admitted  Phase = iota + 1 // bound to its reference, with nothing changed yet
	Effective                  // its effect is recorded, and not yet usable everywhere
	Finished
)

// Execution is what a reference stands for: a command that a leader works on, or
// its outcome.
type Execution struct {
	Reference primitives.UUID
	Owner     string
	Domain    string
	Digest    string
	Position  uint32 // in a transaction, as the client expected it, plus one
	Phase     Phase
	// Work is what an admitted command has to do, and Awaits are the domains that
	// an effective one waits for, since the command at index Effect. Both are gone
	// once it finished.
	Work   []byte
	Awaits []string
	Effect uint64

	Reply    []byte
	Finished int64
	Refusal  *Refusal
}

// LeaseOwner is the owner of the leases that a command holds.
func LeaseOwner(reference primitives.UUID) string { return "command " + reference.String() }

// TaskLeaseOwner is the owner of the leases that a command takes one after the
// other while it is carried out, each for changes of its own.
func TaskLeaseOwner(reference primitives.UUID) string { return "node control " + reference.String() }

// Execution returns what is known about a reference.
func (s *State) Execution(reference primitives.UUID) (*Execution, bool) {
	return s.executions.get(string(reference[:]))
}

// Executions counts the retained references.
func (s *State) Executions() int { return s.executions.len() }

// Unfinished yields the commands that a leader has to finish, by reference.
func (s *State) Unfinished() iter.Seq[*Execution] { return values(s.unfinished.all()) }

// HistoryFull reports whether no further reference can be kept.
func (s *State) HistoryFull() bool {
	return s.executions.len()+s.transactions.len()-s.active.len() >= int(s.Limits.History)
}

// admit looks for what keeps a command from applying at all: its reference. It
// reports whether there is something.
func (s *State) admit(x *catalogpb.Execution, result *Result) bool {
	known, ok := s.Execution(uuid(x.GetReference()))
	switch {
	case x.GetTo() < catalogpb.Phase_ADMITTED || x.GetTo() > catalogpb.Phase_FINISHED || x.GetTo() <= x.GetFrom():
		result.Refused = refuse(Invalid, "an execution cannot go from %s to %s", x.GetFrom(), x.GetTo())
	case x.GetFrom() != catalogpb.Phase_ABSENT:
		if !ok || known.Phase != Phase(x.GetFrom()) {
			result.Refused = stale("execution %s is not %s any more", uuid(x.GetReference()), x.GetFrom())
		}
	case ok && !planted.Active(planted.RepeatReference):
		result.Known = known
		return true
	case created(uuid(x.GetReference())) < s.Fence:
		result.Refused = refuse(ReferenceExpired, "execution reference %s is older than the history", uuid(x.GetReference()))
	case s.HistoryFull():
		result.Refused = refuse(Busy, "the history holds %d commands, its limit; retry later", s.Limits.History)
	}
	return result.Refused != nil
}

// record keeps what a command did under its reference. A command whose planning
// inputs changed did nothing and is planned again, so its refusal is no outcome.
func (s *State) record(index uint64, x *catalogpb.Execution, refused *Refusal) {
	if refused != nil && refused.Stale {
		return
	}
	known, ok := s.Execution(uuid(x.GetReference()))
	next := &Execution{
		Reference: uuid(x.GetReference()), Owner: x.GetOwner(), Domain: x.GetDomain(), Digest: string(x.GetDigest()),
		Position: x.GetPosition(), Work: x.GetWork(), Awaits: x.GetAwaits(),
	}
	if ok {
		c := *known
		next = &c
		if x.GetTo() == catalogpb.Phase_EFFECTIVE {
			next.Awaits = x.GetAwaits()
		}
	}
	next.Phase = Phase(x.GetTo())
	if next.Phase == Effective {
		next.Effect = index
	}
	if len(x.GetReply()) > 0 {
		next.Reply = x.GetReply()
	}
	if failure := x.GetRefusal(); failure != nil {
		next.Refusal = newRefusal(failure)
	}
	if refused != nil {
		next.Phase, next.Refusal = Finished, refused
	}
	s.store(next)
}

// store keeps an execution. One that finished holds no lease (C7).
func (s *State) store(x *Execution) {
	key := string(x.Reference[:])
	if x.Phase == Finished {
		x.Finished, x.Work, x.Awaits = s.HighWater, nil, nil
		s.unfinished = s.unfinished.delete(key)
		s.releaseAll(LeaseOwner(x.Reference))
		s.releaseAll(TaskLeaseOwner(x.Reference))
	} else {
		s.unfinished = s.unfinished.set(key, x)
	}
	s.executions = s.executions.set(key, x)
}

// releaseAll gives back every lease of an owner.
func (s *State) releaseAll(owner string) {
	for d := range s.Domains() {
		if d.Lease != nil && d.Lease.Owner == owner {
			s.setLease(d, nil)
		}
	}
}

// Expired reports whether reclaiming would forget something.
func (s *State) Expired(before, transactionsBefore int64) bool {
	for _, x := range s.executions.all() {
		if created(x.Reference) >= before {
			break
		}
		if x.expired(before) {
			return true
		}
	}
	for _, x := range s.transactions.all() {
		if x.expired(transactionsBefore) {
			return true
		}
	}
	return false
}

func (x *Execution) expired(before int64) bool {
	return x.Phase == Finished && x.Finished < before && created(x.Reference) < before
}

// reclaim forgets what ended and moves the fence behind it, so that a forgotten
// reference can never execute again (C4). The fence goes no further: a leader
// whose clock jumped ahead must not refuse clients whose clocks are right.
func (t *transition) reclaim(c *catalogpb.Reclaim) *Refusal {
	s := t.state
	for key, x := range s.executions.all() {
		if x.expired(c.GetBefore()) {
			s.Fence = max(s.Fence, created(x.Reference)+referenceTick)
			s.executions = s.executions.delete(key)
		}
	}
	for key, x := range s.transactions.all() {
		if x.expired(c.GetTransactionsBefore()) {
			s.forget(x)
			s.transactions = s.transactions.delete(key)
		}
	}
	return nil
}

// referenceTick is the resolution of the time in a reference.
const referenceTick = int64(time.Millisecond)

func (x *Execution) record() *catalogpb.ExecutionRecord {
	record := &catalogpb.ExecutionRecord{
		Reference: x.Reference[:], Owner: x.Owner, Domain: x.Domain, Digest: []byte(x.Digest), Position: x.Position,
		Phase: catalogpb.Phase(x.Phase), Work: x.Work, Awaits: x.Awaits, Effect: x.Effect,
		Reply: x.Reply, Finished: x.Finished,
	}
	if x.Refusal != nil {
		record.Refusal = x.Refusal.Record()
	}
	return record
}

func (l *Loader) addExecution(record *catalogpb.ExecutionRecord) error {
	x := &Execution{
		Reference: uuid(record.GetReference()), Owner: record.GetOwner(), Domain: record.GetDomain(), Digest: string(record.GetDigest()),
		Position: record.GetPosition(), Phase: Phase(record.GetPhase()), Work: record.GetWork(), Awaits: slices.Clip(record.GetAwaits()),
		Effect: record.GetEffect(), Reply: record.GetReply(), Finished: record.GetFinished(),
	}
	if x.Phase < Admitted || x.Phase > Finished {
		return recordError("execution %s of phase %d", x.Reference, x.Phase)
	}
	if r := record.GetRefusal(); r != nil {
		x.Refusal = newRefusal(r)
	}
	key := string(record.GetReference())
	l.state.executions = l.state.executions.set(key, x)
	if x.Phase != Finished {
		l.state.unfinished = l.state.unfinished.set(key, x)
	}
	return nil
}
