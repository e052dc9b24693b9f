package session

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/engine/transaction"
	"plexus/engine/transaction/transactionpb"
	"plexus/primitives"
)

// committing carries out the stored plan of a transaction, from the step that is
// recorded as the one in progress: nothing is planned again, and no recorded
// effect is repeated.
type committing struct {
	service *Service
	id      primitives.UUID
	plan    *transaction.Plan
}

func (c *committing) state() *catalog.State { return c.service.deps.Group.State() }

// run ends with the outcome, or with errNoAnswer when another leader has to go on.
func (c *committing) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	plan, err := transaction.Decode(c.state().PlanOf(c.id))
	if err != nil {
		return nil, err
	}
	c.plan = plan
	for {
		x, ok := c.state().Transaction(c.id)
		if !ok {
			return nil, errNoAnswer
		}
		if x.State != catalog.Committing {
			return c.outcome(x)
		}
		n, _ := x.Current()
		if err := c.step(ctx, x, n); err != nil {
			if ctx.Err() == nil {
				c.service.world.Log().Warn("a transaction waits for the next attempt", "transaction", c.id, "error", err)
			}
			return nil, errNoAnswer
		}
	}
}

// outcome is what the reference of COMMIT stands for.
func (c *committing) outcome(x *catalog.Transaction) (*sessionpb.ExecuteReply, error) {
	known, ok := c.state().Execution(x.Reference)
	if !ok {
		return nil, errNoAnswer
	}
	reply := recovered(known)
	reply.Origin = sessionpb.Origin_EXECUTED
	return reply, nil
}

// step takes one step one phase further.
func (c *committing) step(ctx context.Context, x *catalog.Transaction, n int) error {
	step := c.plan.Steps[n]
	hold, err := holdOf(c.state(), x.Domain, step)
	if err != nil {
		return err
	}
	if hold == nil {
		hold = &Move{Domain: x.Domain}
	}
	hold.Lease = x.Lease
	holds := hold.Drains || len(hold.Moves) > 0
	progress := x.Steps[n]
	if progress.Phase == catalog.Applying {
		return c.activate(ctx, x, n, hold, holds)
	}
	if holds {
		if err := c.advance(ctx, x, n, catalog.Unattempted, catalog.Unattempted, &catalog.Engagement{Kind: catalog.Requested, Level: step.GetLevel()}, nil); err != nil {
			return err
		}
	}
	var refused *catalog.Refusal
	err = c.service.carry(ctx, *hold, Effect{
		Commit: func(ctx context.Context) (err error) {
			refused, err = c.effect(ctx, x, n, step, holds)
			if err == nil && refused != nil {
				return ErrNotCommitted
			}
			return err
		},
		Ready: func(ctx context.Context) error { return c.ready(ctx, n) },
	})
	if refused != nil {
		return c.fail(ctx, n, c.engagement(holds, catalog.Released, step), refused)
	}
	return c.carried(ctx, n, step, holds, err)
}

// carried tells how a step that was carried out goes on.
func (c *committing) carried(ctx context.Context, n int, step *transactionpb.Step, holds bool, err error) error {
	x, ok := c.state().Transaction(c.id)
	if !ok || x.State != catalog.Committing {
		return nil
	}
	var activation *ActivationError
	var moved *MoveError
	effective := x.Steps[n].Phase == catalog.Applying
	switch {
	case err == nil && effective:
		return c.applied(ctx, x, n, step, holds)
	case errors.As(err, &activation) && effective:
		return c.fail(ctx, n, c.engagement(holds, catalog.Released, step), &catalog.Refusal{Code: "activation", Message: activation.Error()})
	case errors.As(err, &moved) && !effective:
		kind := catalog.EngagementFailed
		if moved.Uncertain {
			kind = catalog.Uncertain
		}
		engagement := c.engagement(holds, kind, step)
		if engagement != nil {
			engagement.Detail = moved.Error()
		}
		return c.fail(ctx, n, engagement, &catalog.Refusal{Code: catalog.Code(moved.Code), Message: moved.Error()})
	case errors.Is(err, ErrNotCommitted):
		return nil // what is recorded by now says how to go on
	}
	return err
}

// engagement is one entry of a hold's history, nil where nothing is held.
func (c *committing) engagement(holds bool, kind catalog.EngagementKind, step *transactionpb.Step) *catalog.Engagement {
	if !holds {
		return nil
	}
	return &catalog.Engagement{Kind: kind, Level: step.GetLevel()}
}

// effect records what the step changes, with the transaction's progress. A refusal
// means that an input is not what it was when it was captured: the step fails,
// and never widens.
func (c *committing) effect(ctx context.Context, x *catalog.Transaction, n int, step *transactionpb.Step, holds bool) (*catalog.Refusal, error) {
	steps := transaction.Changes(step, x.Lease, x.Captured)
	advance := &catalogpb.AdvanceTransaction{
		Id: c.id[:], Step: uint32(n), From: catalogpb.StepPhase_UNATTEMPTED, To: catalogpb.StepPhase_APPLYING,
		Level: step.GetLevel(), Moved: uint32(len(step.GetMoves())),
	}
	if e := c.engagement(holds, catalog.Confirmed, step); e != nil {
		advance.Engagement = e.Record()
	}
	steps = append(steps, &catalogpb.Step{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: advance}})
	result, err := c.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps})
	switch {
	case err != nil:
		return nil, err
	case result.Refused == nil:
		return nil, nil
	case result.Refused.Stale && result.Refused.Step == len(steps)-1:
		return nil, ErrNotCommitted // somebody else moved the transaction on
	}
	return result.Refused, nil
}

// ready waits until the recorded effect of a step is usable.
func (c *committing) ready(ctx context.Context, n int) error {
	x, ok := c.state().Transaction(c.id)
	if !ok || x.Steps[n].Effect == 0 {
		return nil
	}
	return c.service.deps.Runtime.Settle(ctx, x.Domain, x.Steps[n].Effect)
}

// activate goes on with a step whose effect an earlier leader recorded. What had
// to drain is held again until the effect is usable; owners that moved take over
// from the committed schedule.
func (c *committing) activate(ctx context.Context, x *catalog.Transaction, n int, hold *Move, holds bool) error {
	step := c.plan.Steps[n]
	hold.Moves = nil
	err := c.service.carry(ctx, *hold, Effect{
		Commit: func(context.Context) error { return nil },
		Ready:  func(ctx context.Context) error { return c.ready(ctx, n) },
	})
	var moved *MoveError
	if errors.As(err, &moved) {
		// It cannot be held any more, and need not: its effect is there.
		err = c.ready(ctx, n)
	}
	return c.carried(ctx, n, step, holds, err)
}

// applied records that a step is usable everywhere, and with the last one the end
// of the transaction.
func (c *committing) applied(ctx context.Context, x *catalog.Transaction, n int, step *transactionpb.Step, holds bool) error {
	var x2 *catalogpb.Execution
	if n == len(x.Steps)-1 {
		x2 = c.finished(x)
		reply, err := c.reply(x)
		if err != nil {
			return err
		}
		if x2.Reply, err = encodeReply(reply); err != nil {
			return err
		}
	}
	return c.advance(ctx, x, n, catalog.Applying, catalog.Applied, c.engagement(holds, catalog.Released, step), x2)
}

// fail records the failure of a step, which is that of the transaction.
func (c *committing) fail(ctx context.Context, n int, engagement *catalog.Engagement, refused *catalog.Refusal) error {
	x, ok := c.state().Transaction(c.id)
	if !ok || x.State != catalog.Committing {
		return nil
	}
	failure := &catalog.Refusal{Code: refused.Code, Message: c.failure(n, refused)}
	execution := c.finished(x)
	execution.Refusal = failure.Record()
	advance := &catalogpb.AdvanceTransaction{
		Id: c.id[:], Step: uint32(n), From: catalogpb.StepPhase(x.Steps[n].Phase), To: catalogpb.StepPhase_STEP_FAILED, Failure: failure.Record(),
	}
	if engagement != nil {
		advance.Engagement = engagement.Record()
	}
	return c.proposeAdvance(ctx, advance, execution)
}

// failure says which step failed, why, and what stays.
func (c *committing) failure(n int, refused *catalog.Refusal) string {
	step := c.plan.Steps[n]
	text := fmt.Sprintf("step %d of %d (operations %d to %d) failed: %s", n+1, len(c.plan.Steps), step.GetFirst(), step.GetLast(), refused.Message)
	if n > 0 {
		text += fmt.Sprintf("; operations 1 to %d stay applied", c.plan.Steps[n-1].GetLast())
	}
	return text
}

// finished is the end of the COMMIT's execution.
func (c *committing) finished(x *catalog.Transaction) *catalogpb.Execution {
	return &catalogpb.Execution{Reference: x.Reference[:], From: catalogpb.Phase_ADMITTED, To: catalogpb.Phase_FINISHED}
}

// advance moves the transaction on, or notes an engagement where both phases are
// the same.
func (c *committing) advance(ctx context.Context, x *catalog.Transaction, n int, from, to catalog.StepPhase, engagement *catalog.Engagement, execution *catalogpb.Execution) error {
	a := &catalogpb.AdvanceTransaction{Id: x.ID[:], Step: uint32(n), From: catalogpb.StepPhase(from), To: catalogpb.StepPhase(to)}
	if engagement != nil {
		a.Engagement = engagement.Record()
	}
	return c.proposeAdvance(ctx, a, execution)
}

func (c *committing) proposeAdvance(ctx context.Context, a *catalogpb.AdvanceTransaction, execution *catalogpb.Execution) error {
	steps := []*catalogpb.Step{{Body: &catalogpb.Step_AdvanceTransaction{AdvanceTransaction: a}}}
	result, err := c.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps, Execution: execution})
	if err != nil {
		return err
	}
	if result.Refused != nil && !result.Refused.Stale {
		return result.Refused
	}
	return nil
}

// reply is the answer to COMMIT, behind the lines that its request had before.
func (c *committing) reply(x *catalog.Transaction) (*sessionpb.ExecuteReply, error) {
	reply := &sessionpb.ExecuteReply{}
	if known, ok := c.state().Execution(x.Reference); ok {
		if err := proto.Unmarshal(known.Reply, reply); err != nil {
			return nil, fmt.Errorf("retained reply: %w", err)
		}
	}
	members := reply.GetDocument().GetMap().GetMembers()
	m := new(document.Map)
	for _, member := range members {
		m.Set(member.GetKey(), member.GetValue())
	}
	for _, o := range c.plan.Outcomes {
		one := statementOutcome(o)
		reply.Statements = append(reply.Statements, one)
		facts(m, one.GetText())
	}
	level, moved := "", uint32(0)
	for _, s := range x.Steps {
		level = transaction.Higher(level, s.Level)
		moved += s.Moved
	}
	m.Set("quiesce level", document.Text(level))
	if moved > 0 {
		m.Set("moved owners", document.Uint(uint64(moved)))
	}
	reply.Origin, reply.Disposition = sessionpb.Origin_EXECUTED, sessionpb.Disposition_COMPLETED
	reply.Document = m.Value()
	reply.Text = document.Render(reply.Document)
	return reply, nil
}
