package catalog

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// automaton is one transaction, told by its life alone.
type automaton struct {
	state      TransactionState
	operations int
	deadline   int64
	step       int
	steps      []StepPhase
}

const (
	automatonIdle       = 20
	automatonStatements = 4
)

// expects returns whether a step applies, and takes its effect.
func (a *automaton) expects(c *catalogpb.Step, now int64) bool {
	open := a.state == Open && now < a.deadline
	switch body := c.GetBody().(type) {
	case *catalogpb.Step_AppendOperation:
		if !open || int(body.AppendOperation.GetPosition()) != a.operations+1 || a.operations == automatonStatements || body.AppendOperation.GetOwner() != "u" {
			return false
		}
		a.operations++
		a.deadline = now + automatonIdle
	case *catalogpb.Step_TouchTransaction:
		if !open {
			return false
		}
		a.deadline = now + automatonIdle
	case *catalogpb.Step_RevertTransaction:
		if !open {
			return false
		}
		a.state = Reverted
	case *catalogpb.Step_ExpireTransaction:
		if a.state != Open || now < a.deadline {
			return false
		}
		a.state = Expired
	case *catalogpb.Step_CommitTransaction:
		if !open || int(body.CommitTransaction.GetPosition()) != a.operations {
			return false
		}
		a.state, a.steps = Committing, make([]StepPhase, body.CommitTransaction.GetSteps())
		if len(a.steps) == 0 {
			a.state = Committed
		}
	case *catalogpb.Step_AdvanceTransaction:
		return a.advances(body.AdvanceTransaction)
	}
	return true
}

func (a *automaton) advances(c *catalogpb.AdvanceTransaction) bool {
	from, to := StepPhase(c.GetFrom()), StepPhase(c.GetTo())
	if a.state != Committing || int(c.GetStep()) != a.step || a.steps[a.step] != from {
		return false
	}
	switch {
	case to == StepFailed:
		a.state = Failed
	case to == from+1 && to == Applied:
		if a.step++; a.step == len(a.steps) {
			a.state = Committed
		}
		a.steps[a.step-1] = to
		return true
	case to != from && to != from+1:
		return false
	}
	a.steps[a.step] = to
	return true
}

// A transaction does what the automaton says, whatever is asked of it and in
// which order, across snapshots (transaction).
func TestTransactionAutomaton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := someTransactions[0]
		limits := DefaultLimits
		limits.TransactionIdle, limits.TransactionStatements = automatonIdle*time.Nanosecond, automatonStatements
		s, result, _ := New(primitives.UUID{7}).Apply(2, &catalogpb.Command{At: 1, Steps: []*catalogpb.Step{limits.Step(), createDomain("a"), beginStep(id, "a")}})
		if result.Refused != nil {
			t.Fatal(result.Refused)
		}
		a := &automaton{deadline: 1 + automatonIdle}
		for i := range rapid.Uint64Range(1, 40).Draw(t, "steps") {
			step := drawFor(t, s, id)
			at := rapid.Int64Range(0, 60).Draw(t, "at")
			next, result, _ := s.Apply(i+3, &catalogpb.Command{At: at, Steps: []*catalogpb.Step{step}})
			if want := a.expects(step, next.HighWater); want != (result.Refused == nil) {
				t.Fatalf("step %d %v: refused %v, want it to apply %t", i, step, result.Refused, want)
			}
			x, _ := next.Transaction(id)
			n, steps := x.Current()
			got := fmt.Sprint(x.State, x.Operations, n, steps)
			if want := fmt.Sprint(a.state, a.operations, a.step, len(a.steps)); got != want {
				t.Fatalf("after step %d %v: %s, want %s", i, step, got, want)
			}
			if a.state == Open && x.Deadline != a.deadline {
				t.Fatalf("deadline %d, want %d", x.Deadline, a.deadline)
			}
			kept := 0
			for range next.OperationsOf(id) {
				kept++
			}
			if forgotten := a.state == Reverted || a.state == Expired; forgotten && kept > 0 || !forgotten && kept != a.operations {
				t.Fatalf("%d operations kept in state %s, want %d", kept, a.state, a.operations)
			}
			if err := next.Coherent(); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "snapshot") == 0 {
				next = reloadAndCompare(t, next, 64)
			}
			s = next
		}
	})
}

// drawFor draws a step of one transaction.
func drawFor(t *rapid.T, s *State, id primitives.UUID) *catalogpb.Step {
	x, _ := s.Transaction(id)
	if x.State == Committing && rapid.IntRange(0, 4).Draw(t, "advance") > 0 {
		step, steps := x.Current()
		a := &catalogpb.AdvanceTransaction{Id: id[:], Step: uint32(step), Failure: &catalogpb.Refusal{Code: "conflict"}}
		if step < steps {
			a.From = catalogpb.StepPhase(x.Steps[step].Phase)
		}
		a.To = catalogpb.StepPhase(rapid.IntRange(0, 3).Draw(t, "to"))
		return &catalogpb.Step{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: a}}
	}
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0:
		return &catalogpb.Step{Body: &catalogpb.Step_TouchTransaction{TouchTransaction: &catalogpb.TouchTransaction{Id: id[:], Owner: "u"}}}
	case 1:
		return &catalogpb.Step{Body: &catalogpb.Step_RevertTransaction{RevertTransaction: &catalogpb.RevertTransaction{Id: id[:], Owner: "u"}}}
	case 2:
		return &catalogpb.Step{Body: &catalogpb.Step_ExpireTransaction{ExpireTransaction: &catalogpb.ExpireTransaction{Id: id[:]}}}
	case 3, 4:
		d, _ := s.Domain(x.Domain)
		return &catalogpb.Step{Body: &catalogpb.Step_CommitTransaction{CommitTransaction: &catalogpb.CommitTransaction{
			Id: id[:], Owner: "u", Position: x.Operations, Content: []byte("plan"), Captured: s.CapturedOf(d).Record(),
			Steps: uint32(rapid.IntRange(0, int(x.Operations)).Draw(t, "plan steps")),
		}}}
	}
	step := appendStep(id, x.Operations+uint32(rapid.IntRange(0, 4).Draw(t, "next")/3)+1)
	if rapid.IntRange(0, 9).Draw(t, "stranger") == 0 {
		step.GetAppendOperation().Owner = "v"
	}
	return step
}

func TestTransactionRefusals(t *testing.T) {
	open, committing, reverted := someTransactions[0], someTransactions[1], someTransactions[2]
	s := populated()
	a, _ := s.Domain("a")
	for _, c := range []struct {
		name string
		step *catalogpb.Step
		want string
	}{
		{"a second one of the id", beginStep(open, "a"), "invalid: a transaction needs an id of its own and an owner"},
		{"no such domain", beginStep(someTransactions[3], "x"), "domain.missing: domain 'x' does not exist"},
		{"another's", &catalogpb.Step{Body: &catalogpb.Step_TouchTransaction{TouchTransaction: &catalogpb.TouchTransaction{Id: open[:], Owner: "v"}}},
			"unauthorized: transaction " + open.String() + " belongs to another user"},
		{"what has ended", appendStep(reverted, 1), "tx.state: transaction " + reverted.String() + " is REVERTED"},
		{"what is committing", appendStep(committing, 3), "tx.state: transaction " + committing.String() + " is COMMITTING"},
		{"what nobody knows", appendStep(someTransactions[3], 1), "tx.state: transaction " + someTransactions[3].String() + " is unknown"},
		{"under a lease", &catalogpb.Step{Body: &catalogpb.Step_CommitTransaction{CommitTransaction: &catalogpb.CommitTransaction{
			Id: open[:], Owner: "u", Position: 1, Steps: 1, Captured: s.CapturedOf(a).Record()}}},
			"conflict: domain 'a' is being changed by transaction " + committing.String()},
		{"the domain of an open one", &catalogpb.Step{Lease: 8, Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: "a"}}},
			"domain.state: transaction " + open.String() + " of user 'u' is open on domain 'a'"},
	} {
		_, result, _ := s.Apply(startIndex, &catalogpb.Command{At: 2, Steps: []*catalogpb.Step{c.step}})
		if result.Refused == nil || result.Refused.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, result.Refused, c.want)
		}
	}
}
