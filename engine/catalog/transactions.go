package catalog

import (
	"encoding/binary"
	"iter"
	"math"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// TransactionState is where in its life a transaction is.
type TransactionState uint8

// The states. Open and Committing are alive.
const (
	Open TransactionState = iota
	Committing
	Committed
	Reverted
	Failed
	Expired
)

var transactionStateNames = [...]string{"OPEN", "COMMITTING", "COMMITTED", "REVERTED", "FAILED", "EXPIRED"}

// String returns the word that replies show.
func (s TransactionState) String() string { return transactionStateNames[s] }

// Transaction is a list of statements of one owner for one domain, and once
// committed the progress of its plan.
type Transaction struct {
	ID     primitives.UUID
	Owner  string
	Domain string
	State  TransactionState
	Begun  int64
	// Deadline is when an open one expires, Ended when it came to its end.
	Deadline, Ended int64
	// Operations counts the statements, Source their bytes.
	Operations uint32
	Source     uint64

	// What COMMIT stored: its reference, how many parts the plan has, the lease,
	// and the domain as the last recorded effect left it.
	Reference primitives.UUID
	Parts     uint32
	Lease     uint64
	Captured  Captured
	Steps     []StepProgress
	Failure   *Refusal
}

// Captured is what a plan was made from.
type Captured struct {
	Definition uint64
	Schedule   uint64
	Generation uint64
	Running    bool
}

// StepPhase is how far a step of a committed plan is.
type StepPhase uint8

// The phases of a step.
const (
	Unattempted StepPhase = iota
	Applying              // its effect is recorded, and not yet usable everywhere
	Applied
	StepFailed
)

var stepPhaseNames = [...]string{"UNATTEMPTED", "APPLYING", "APPLIED", "FAILED"}

// String returns the word that reports show.
func (p StepPhase) String() string { return stepPhaseNames[p] }

// StepProgress is one step of a committed plan.
type StepProgress struct {
	Phase       StepPhase
	Effect      uint64 // the index of the command that had it
	Level       string // that was engaged
	Moved       uint32 // owners
	Engagements []Engagement
}

// EngagementKind is one event of a hold.
type EngagementKind uint8

// The events.
const (
	Requested EngagementKind = iota
	Confirmed
	EngagementFailed
	Uncertain
	Released
	Expanded
)

var engagementNames = [...]string{"REQUESTED", "CONFIRMED", "FAILED", "UNCERTAIN", "RELEASED", "EXPANDED"}

// String returns the word that reports show.
func (k EngagementKind) String() string { return engagementNames[k] }

// Engagement is one entry in the history of a step's hold.
type Engagement struct {
	Kind          EngagementKind
	Level, Detail string
}

// Operation is one statement of a transaction.
type Operation struct {
	Position uint32 // from 1
	Text     string
}

// TransactionLeaseOwner is the owner of the lease that a committing transaction
// holds.
func TransactionLeaseOwner(id primitives.UUID) string { return "transaction " + id.String() }

// Transaction returns a transaction that was not forgotten yet.
func (s *State) Transaction(id primitives.UUID) (*Transaction, bool) {
	return s.transactions.get(string(id[:]))
}

// Transactions yields the transactions by id, which is the order in which they
// began.
func (s *State) Transactions() iter.Seq[*Transaction] { return values(s.transactions.all()) }

// ActiveTransactions yields those that are open or committing.
func (s *State) ActiveTransactions() iter.Seq[*Transaction] { return values(s.active.all()) }

// OperationsOf yields the statements of a transaction in order.
func (s *State) OperationsOf(id primitives.UUID) iter.Seq[*Operation] {
	return values(s.operations.prefix(string(id[:])))
}

// PlanOf returns what COMMIT stored as the plan, nil for none.
func (s *State) PlanOf(id primitives.UUID) (plan []byte) {
	for part := range values(s.parts.prefix(string(id[:]))) {
		plan = append(plan, part...)
	}
	return plan
}

// Current returns the step in progress, and how many there are.
func (x *Transaction) Current() (step, steps int) {
	for step < len(x.Steps) && x.Steps[step].Phase == Applied {
		step++
	}
	return step, len(x.Steps)
}

// CapturedOf is what a plan made from the state now has to name.
func (s *State) CapturedOf(d *Domain) Captured {
	c := Captured{Definition: d.Definition, Generation: d.Generation, Running: d.Running}
	if x, ok := s.Schedule(d.Name); ok {
		c.Schedule = x.Index
	}
	return c
}

func (x *Transaction) active() bool { return x.State == Open || x.State == Committing }

func (x *Transaction) expired(before int64) bool { return !x.active() && x.Ended < before }

// partKey orders the operations and parts of one transaction.
func partKey(id primitives.UUID, n uint32) string {
	return string(binary.BigEndian.AppendUint32(append(make([]byte, 0, len(id)+4), id[:]...), n))
}

func cutPartKey(key string) (id primitives.UUID, n uint32) {
	return uuid([]byte(key[:len(id)])), binary.BigEndian.Uint32([]byte(key[len(id):]))
}

// transactionStep applies the steps of transactions.
func (t *transition) transactionStep(step *catalogpb.Step) *Refusal {
	switch body := step.GetBody().(type) {
	case *catalogpb.Step_BeginTransaction:
		return t.begin(body.BeginTransaction)
	case *catalogpb.Step_AppendOperation:
		return t.appendOperation(body.AppendOperation)
	case *catalogpb.Step_TouchTransaction:
		return t.withOpen(body.TouchTransaction.GetId(), body.TouchTransaction.GetOwner(), func(x *Transaction) *Refusal {
			t.touch(x)
			return nil
		})
	case *catalogpb.Step_RevertTransaction:
		return t.withOpen(body.RevertTransaction.GetId(), body.RevertTransaction.GetOwner(), func(x *Transaction) *Refusal {
			t.end(x, Reverted)
			return nil
		})
	case *catalogpb.Step_StageTransaction:
		return t.stage(body.StageTransaction)
	case *catalogpb.Step_CommitTransaction:
		return t.commit(body.CommitTransaction)
	case *catalogpb.Step_AdvanceTransaction:
		return t.advance(body.AdvanceTransaction)
	case *catalogpb.Step_ExpireTransaction:
		return t.expire(body.ExpireTransaction)
	}
	return refuse(Invalid, "the command has an empty step")
}

func (t *transition) begin(c *catalogpb.BeginTransaction) *Refusal {
	id := uuid(c.GetId())
	_, taken := t.state.Transaction(id)
	_, exists := t.state.Domain(c.GetDomain())
	switch {
	case !exists:
		return refuse(DomainMissing, "domain '%s' does not exist", c.GetDomain())
	case taken || id == (primitives.UUID{}) || c.GetOwner() == "":
		return refuse(Invalid, "a transaction needs an id of its own and an owner")
	case t.state.openTransactions() >= int(t.state.Limits.TransactionOpen):
		return refuse(TxLimit, "%d transactions are open already", t.state.Limits.TransactionOpen)
	}
	x := &Transaction{ID: id, Owner: c.GetOwner(), Domain: c.GetDomain(), Begun: t.state.HighWater}
	t.touch(x)
	t.state.setTransaction(x)
	return nil
}

func (s *State) openTransactions() (n int) {
	for x := range s.ActiveTransactions() {
		if x.State == Open {
			n++
		}
	}
	return n
}

// touch starts the idle time over.
func (t *transition) touch(x *Transaction) {
	x.Deadline = t.state.HighWater + int64(t.state.Limits.TransactionIdle)
	if x.Deadline < t.state.HighWater { // beyond what an instant can say
		x.Deadline = math.MaxInt64
	}
}

func (t *transition) appendOperation(c *catalogpb.AppendOperation) *Refusal {
	return t.withOpen(c.GetId(), c.GetOwner(), func(x *Transaction) *Refusal {
		limits := t.state.Limits
		switch {
		case c.GetPosition() != x.Operations+1:
			return stale("transaction %s holds %d statements, not %d", x.ID, x.Operations, int64(c.GetPosition())-1)
		case x.Operations >= limits.TransactionStatements:
			return refuse(TxLimit, "a transaction holds at most %d statements", limits.TransactionStatements)
		case x.Source+uint64(len(c.GetText())) > limits.TransactionSource:
			return refuse(TxLimit, "the statements of a transaction have at most %d bytes", limits.TransactionSource)
		}
		x.Operations++
		x.Source += uint64(len(c.GetText()))
		t.touch(x)
		operation := &Operation{Position: x.Operations, Text: c.GetText()}
		t.state.operations = t.state.operations.set(partKey(x.ID, x.Operations), operation)
		return nil
	})
}

// stage keeps one part of a plan until COMMIT. Parts come in order.
func (t *transition) stage(c *catalogpb.StageTransaction) *Refusal {
	id := uuid(c.GetId())
	x, ok := t.state.Transaction(id)
	if !ok || x.State != Open {
		return refuse(TxState, "transaction %s is not open", id)
	}
	if c.GetPart() == 0 {
		t.state.dropParts(id)
	} else if _, ok := t.state.parts.get(partKey(id, c.GetPart()-1)); !ok {
		return stale("part %d of transaction %s comes before part %d", c.GetPart(), id, c.GetPart()-1)
	}
	t.state.parts = t.state.parts.set(partKey(id, c.GetPart()), c.GetContent())
	return nil
}

func (s *State) dropParts(id primitives.UUID) {
	for key := range s.parts.prefix(string(id[:])) {
		s.parts = s.parts.delete(key)
	}
}

// commit freezes the content, if the plan still fits the domain, and takes the
// lease.
func (t *transition) commit(c *catalogpb.CommitTransaction) *Refusal {
	return t.withOpen(c.GetId(), c.GetOwner(), func(x *Transaction) *Refusal {
		d, ok := t.state.Domain(x.Domain)
		switch {
		case !ok:
			return refuse(DomainMissing, "domain '%s' does not exist", x.Domain)
		case d.Lease != nil && !planted.Active(planted.IgnoreLease):
			return d.held()
		case c.GetPosition() != x.Operations, t.state.CapturedOf(d) != newCaptured(c.GetCaptured()):
			return stale("transaction %s or domain '%s' changed while COMMIT was being planned", x.ID, x.Domain)
		case c.GetSteps() > x.Operations:
			return refuse(Invalid, "transaction %s of %d statements cannot have %d steps", x.ID, x.Operations, c.GetSteps())
		}
		if c.GetParts() == 0 {
			t.state.dropParts(x.ID)
		} else if _, ok := t.state.parts.get(partKey(x.ID, c.GetParts()-1)); !ok {
			return stale("the plan of transaction %s was not staged", x.ID)
		}
		t.state.parts = t.state.parts.set(partKey(x.ID, c.GetParts()), c.GetContent())
		x.Reference, x.Parts = uuid(c.GetReference()), c.GetParts()+1
		x.Captured = newCaptured(c.GetCaptured())
		x.Steps = make([]StepProgress, c.GetSteps())
		x.Deadline, x.Lease = 0, t.index
		x.State = Committing
		if len(x.Steps) == 0 {
			t.end(x, Committed)
			return nil
		}
		t.state.setLease(d, &Lease{Owner: TransactionLeaseOwner(x.ID), Index: t.index})
		return nil
	})
}

// advance moves the step in progress on. Its effect, if the command has it, is
// applied already, and what it left is what the next step has to find.
func (t *transition) advance(c *catalogpb.AdvanceTransaction) *Refusal {
	id := uuid(c.GetId())
	old, ok := t.state.Transaction(id)
	if !ok || old.State != Committing {
		return stale("transaction %s is not committing", id)
	}
	n, steps := old.Current()
	if n != int(c.GetStep()) || n == steps || old.Steps[n].Phase != StepPhase(c.GetFrom()) {
		return stale("transaction %s is not at step %d", id, c.GetStep())
	}
	x := *old
	x.Steps = append([]StepProgress(nil), x.Steps...)
	step := &x.Steps[n]
	if e := c.GetEngagement(); e != nil {
		if e.GetKind() < 0 || int(e.GetKind()) >= len(engagementNames) || len(step.Engagements) >= engagementsMax {
			return refuse(Invalid, "transaction %s cannot note the engagement", id)
		}
		step.Engagements = append(step.Engagements[:len(step.Engagements):len(step.Engagements)], newEngagement(e))
	}
	if refused := t.move(&x, step, c); refused != nil {
		return refused
	}
	t.state.setTransaction(&x)
	return nil
}

// engagementsMax bounds the history of one hold.
const engagementsMax = 64

// move takes the step from one phase to the next.
func (t *transition) move(x *Transaction, step *StepProgress, c *catalogpb.AdvanceTransaction) *Refusal {
	from, to := StepPhase(c.GetFrom()), StepPhase(c.GetTo())
	d, exists := t.state.Domain(x.Domain)
	switch {
	case from == to:
		return nil
	case from == Unattempted && to == Applying && exists:
		step.Effect, step.Level, step.Moved = t.index, c.GetLevel(), c.GetMoved()
		x.Captured = t.state.CapturedOf(d)
	case from == Applying && to == Applied:
		step.Phase = to
		if n, steps := x.Current(); n == steps {
			t.end(x, Committed)
		}
	case to == StepFailed && c.GetFailure() != nil:
		x.Failure = newRefusal(c.GetFailure())
		t.end(x, Failed)
	default:
		return refuse(Invalid, "a step of transaction %s cannot go from %s to phase %d", x.ID, from, to)
	}
	step.Phase = to
	return nil
}

func (t *transition) expire(c *catalogpb.ExpireTransaction) *Refusal {
	id := uuid(c.GetId())
	old, ok := t.state.Transaction(id)
	if !ok || old.State != Open || t.state.HighWater < old.Deadline {
		return stale("transaction %s is not overdue", id)
	}
	x := *old
	t.end(&x, Expired)
	t.state.setTransaction(&x)
	return nil
}

// end closes a transaction. What it had queued is worth nothing any more, unless
// a report tells of it.
func (t *transition) end(x *Transaction, state TransactionState) {
	x.State, x.Ended, x.Deadline = state, t.state.HighWater, 0
	t.state.releaseAll(TransactionLeaseOwner(x.ID))
	if state == Reverted || state == Expired {
		t.state.forget(x)
	}
}

// forget drops the content of a transaction.
func (s *State) forget(x *Transaction) {
	for key := range s.operations.prefix(string(x.ID[:])) {
		s.operations = s.operations.delete(key)
	}
	s.dropParts(x.ID)
}

// withOpen changes a copy of an open transaction of an owner, and stores it
// unless f refused.
func (t *transition) withOpen(idBytes []byte, owner string, f func(*Transaction) *Refusal) *Refusal {
	id := uuid(idBytes)
	old, ok := t.state.Transaction(id)
	switch {
	case !ok:
		return refuse(TxState, "transaction %s is unknown", id)
	case old.Owner != owner:
		return refuse(Unauthorized, "transaction %s belongs to another user", id)
	case old.State != Open:
		return refuse(TxState, "transaction %s is %s", id, old.State)
	case t.state.HighWater >= old.Deadline:
		return refuse(TxState, "transaction %s is %s", id, Expired)
	}
	x := *old
	if refused := f(&x); refused != nil {
		return refused
	}
	t.state.setTransaction(&x)
	return nil
}

func (s *State) setTransaction(x *Transaction) {
	key := string(x.ID[:])
	s.transactions = s.transactions.set(key, x)
	if x.active() {
		s.active = s.active.set(key, x)
	} else {
		s.active = s.active.delete(key)
	}
}
