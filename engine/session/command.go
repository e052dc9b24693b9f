package session

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/client"
	"plexus/engine/control"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/primitives"
)

// ActivationError says that a committed revision could not be executed on a node.
type ActivationError struct {
	Domain string
	Node   string // "" is the node that says so
	Err    error
}

func (e *ActivationError) Error() string {
	node := "this node"
	if e.Node != "" {
		node = "node '" + e.Node + "'"
	}
	return fmt.Sprintf("the definitions of domain '%s' were committed, but %s could not activate them: %v", e.Domain, node, e.Err)
}

// Unwrap returns the cause.
func (e *ActivationError) Unwrap() error { return e.Err }

// planned is what a command is about to do.
type planned struct {
	// steps are its effect. A command that changes a domain holds the domain's
	// lease until the effect is usable.
	steps  []*catalogpb.Step
	lease  string   // the domain, "" for none
	awaits []string // domains whose revision must be usable
	// hold is what has to come to rest before the effect; nil for nothing.
	hold *Move
	// task is carried out instead of an effect of its own.
	task func(ctx context.Context, t Task) (*TaskOutcome, error)

	outcomes []*sessionpb.StatementOutcome
	document document.Value // beside the outcomes' lines, nil for none
	level    string         // "" where no quiesce level is reported
	moved    *int           // owners, nil where none does
}

// planner plans against a state. It runs again when the state changed before its
// result was committed.
type planner func(*catalog.State) (*planned, *sessionpb.ExecuteReply)

func (p *planned) reply() *sessionpb.ExecuteReply {
	var m document.Map
	if p.document == nil {
		for _, o := range p.outcomes {
			facts(&m, o.GetText())
		}
		if p.level != "" {
			m.Set("quiesce level", document.Text(p.level))
		}
		if p.moved != nil {
			m.Set("moved owners", document.Int(*p.moved))
		}
	}
	v := m.Value()
	if p.document != nil {
		v = p.document
	}
	return &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED,
		Statements: p.outcomes, Document: v, Text: document.Render(v),
	}
}

// one runs one persistent statement outside a transaction.
func (q *request) one(ctx context.Context, statement ast.Statement) (*sessionpb.ExecuteReply, error) {
	plan, reply, err := q.planner(ctx, statement)
	if reply != nil || err != nil {
		return reply, err
	}
	return q.commit(ctx, plan)
}

// commit runs a plan as a command under the request's reference. The command goes
// on when the caller gives up waiting.
func (q *request) commit(ctx context.Context, plan planner) (*sessionpb.ExecuteReply, error) {
	if err := q.needReference(); err != nil {
		return nil, err
	}
	if reply := q.admissible(); reply != nil {
		return reply, nil
	}
	c := &command{service: q.service, reference: q.reference, binding: q.binding(), work: q.text, plan: plan}
	return q.admit(ctx, false, c.run)
}

// admit starts a command, unless its reference is under way already, and waits
// for it. One that is recorded is finished by another leader if not by this one.
func (q *request) admit(ctx context.Context, recorded bool, run func(context.Context) (*sessionpb.ExecuteReply, error)) (*sessionpb.ExecuteReply, error) {
	s := q.service
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	switch {
	case recorded && (s.stopping.IsSet() || s.tenure != q.tenure):
		s.lock.Unlock()
		return s.unknown(q.tenure.tasks.Context()), nil
	case s.stopping.IsSet():
		s.lock.Unlock()
		return nil, errStopping
	case s.tenure != q.tenure:
		s.lock.Unlock()
		return s.redirect(), nil
	}
	under := q.tenure.applying[q.reference]
	if under == nil {
		under = s.begin(q.tenure, q.reference, q.binding(), run)
	}
	s.lock.Unlock()
	return q.join(ctx, under)
}

// command is one command under its reference, from admission to its outcome.
type command struct {
	service   *Service
	reference primitives.UUID
	binding
	work  string // the statement, for a leader that goes on with it
	plan  planner
	doubt bool // the last proposal may be committed yet
}

// resumed returns a command of an earlier leader.
func (s *Service) resumed(t *tenure, x *catalog.Execution) *command {
	q := &request{
		service: s, owner: x.Owner, reference: x.Reference, text: string(x.Work), domain: x.Domain, position: x.Position, digest: x.Digest, tenure: t,
	}
	c := &command{service: s, reference: x.Reference, binding: bindingOf(x), work: q.text}
	c.plan = func(state *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		plan, reply := q.planAgain()
		if reply != nil {
			return nil, reply
		}
		return plan(state)
	}
	return c
}

// run takes the command from where it stands to its end. When its inputs changed
// before its effect was recorded it is planned again, up to a bound.
func (c *command) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	before := catalog.Phase(0)
	for replans := 0; replans <= replansMax; {
		state := c.service.deps.Group.State()
		x, known := state.Execution(c.reference)
		switch {
		case known && x.Phase == catalog.Finished:
			return c.recovered(x), nil
		case known && x.Phase == catalog.Effective:
			return c.settle(ctx, x)
		}
		p, failed := c.plan(state)
		if failed != nil {
			if known {
				return c.finish(ctx, catalogpb.Phase_ADMITTED, failed, nil)
			}
			return failed, nil
		}
		reply, err := c.attempt(ctx, state, p, known)
		if reply != nil || err != nil {
			return reply, err
		}
		if now := c.phase(); now > before {
			before = now
		} else {
			replanned.Hit()
			replans++
		}
	}
	failed := refused(&catalog.Refusal{Code: catalog.Conflict, Message: fmt.Sprintf("domain '%s' kept changing; retry", c.domain)})
	if c.phase() == catalog.Admitted {
		return c.finish(ctx, catalogpb.Phase_ADMITTED, failed, nil)
	}
	return failed, nil
}

// phase is how far the command is, 0 before its admission.
func (c *command) phase() catalog.Phase {
	if x, ok := c.service.deps.Group.State().Execution(c.reference); ok {
		return x.Phase
	}
	return 0
}

// attempt carries out one plan. It returns neither reply nor error when the state
// has moved on: by the command's own doing, or under it.
func (c *command) attempt(ctx context.Context, state *catalog.State, p *planned, admitted bool) (*sessionpb.ExecuteReply, error) {
	switch {
	case len(p.steps) == 0 && p.task == nil:
		if admitted {
			return c.finish(ctx, catalogpb.Phase_ADMITTED, p.reply(), nil)
		}
		return p.reply(), nil
	case (p.hold != nil || p.task != nil) && !admitted:
		return c.take(ctx, p)
	case p.task != nil:
		return c.perform(ctx, p)
	case p.hold == nil:
		return c.effect(ctx, state, p, admitted)
	}
	return c.held(ctx, state, p)
}

// take admits the command, which holds the lease of its domain from here on.
func (c *command) take(ctx context.Context, p *planned) (*sessionpb.ExecuteReply, error) {
	x := c.execution(catalogpb.Phase_ABSENT, catalogpb.Phase_ADMITTED)
	x.Work = []byte(c.work)
	return c.propose(ctx, x, c.acquire(p))
}

// acquire is the step that takes the lease of a plan's domain.
func (c *command) acquire(p *planned) []*catalogpb.Step {
	if p.lease == "" {
		return nil
	}
	return []*catalogpb.Step{{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{
		Domain: p.lease, Owner: catalog.LeaseOwner(c.reference)}}}}
}

// effect proposes what the command changes, with its admission where it has none
// yet.
func (c *command) effect(ctx context.Context, state *catalog.State, p *planned, admitted bool) (*sessionpb.ExecuteReply, error) {
	from, to := catalogpb.Phase_ABSENT, catalogpb.Phase_FINISHED
	if len(p.awaits) > 0 {
		to = catalogpb.Phase_EFFECTIVE
	}
	steps := p.steps
	if admitted {
		from = catalogpb.Phase_ADMITTED
		steps = presented(state, p)
	} else {
		steps = append(c.acquire(p), steps...)
	}
	x := c.execution(from, to)
	x.Awaits = p.awaits
	var err error
	if x.Reply, err = encodeReply(p.reply()); err != nil {
		return nil, err
	}
	return c.propose(ctx, x, steps)
}

// presented is the steps of a plan with the lease that the command holds.
func presented(state *catalog.State, p *planned) []*catalogpb.Step {
	d, ok := state.Domain(p.lease)
	if !ok || d.Lease == nil {
		return p.steps
	}
	steps := make([]*catalogpb.Step, len(p.steps))
	for i, step := range p.steps {
		steps[i] = &catalogpb.Step{Lease: d.Lease.Index, Body: step.GetBody()}
	}
	return steps
}

// held brings what the effect takes away or moves to rest first. What fails before
// the effect changed nothing and fails the command.
func (c *command) held(ctx context.Context, state *catalog.State, p *planned) (*sessionpb.ExecuteReply, error) {
	if d, ok := state.Domain(p.lease); ok && d.Lease != nil {
		p.hold.Lease = d.Lease.Index
	}
	var reply *sessionpb.ExecuteReply
	var failed error
	err := c.service.carry(ctx, *p.hold, Effect{
		Commit: func(ctx context.Context) error {
			reply, failed = c.effect(ctx, state, p, true)
			switch {
			case c.phase() >= catalog.Effective:
				return nil
			case c.doubt:
				return failed // it may be committed yet
			}
			return ErrNotCommitted
		},
		Ready: c.ready,
	})
	if reply != nil || failed != nil {
		return reply, failed
	}
	if err == nil || errors.Is(err, ErrNotCommitted) || c.phase() >= catalog.Effective {
		return nil, nil // run goes on from what is recorded
	}
	var moved *MoveError
	if !errors.As(err, &moved) {
		return nil, c.stopped(ctx, err)
	}
	return c.finish(ctx, catalogpb.Phase_ADMITTED, refused(&catalog.Refusal{Code: catalog.Code(moved.Code), Message: moved.Error()}), nil)
}

// perform carries out a task and finishes with its outcome.
func (c *command) perform(ctx context.Context, p *planned) (*sessionpb.ExecuteReply, error) {
	outcome, err := p.task(ctx, Task{Owner: catalog.TaskLeaseOwner(c.reference), Reference: c.reference})
	if err != nil {
		return nil, c.stopped(ctx, err)
	}
	p.document = outcome.Document
	reply := p.reply()
	if f := outcome.Failed; f != nil {
		reply = refused(f)
		if outcome.Document != nil {
			reply.Document, reply.Text = outcome.Document, document.Render(outcome.Document)+"\n"+reply.GetText()
		}
	}
	return c.finish(ctx, catalogpb.Phase_ADMITTED, reply, nil)
}

// settle waits at the completion barrier and finishes the command.
func (c *command) settle(ctx context.Context, x *catalog.Execution) (*sessionpb.ExecuteReply, error) {
	err := c.ready(ctx)
	var activation *ActivationError
	switch {
	case err == nil:
		return c.finish(ctx, catalogpb.Phase_EFFECTIVE, nil, nil)
	case errors.As(err, &activation):
		return c.finish(ctx, catalogpb.Phase_EFFECTIVE, nil, &catalog.Refusal{Code: "activation", Message: activation.Error()})
	}
	return nil, c.stopped(ctx, err)
}

// ready waits until the recorded effect is usable.
func (c *command) ready(ctx context.Context) error {
	x, ok := c.service.deps.Group.State().Execution(c.reference)
	if !ok {
		return nil
	}
	for _, domain := range x.Awaits {
		if err := c.service.deps.Runtime.Settle(ctx, domain, x.Effect); err != nil {
			return err
		}
	}
	return nil
}

// finish records the outcome: the reply that is recorded already when there is
// neither reply nor refusal.
func (c *command) finish(ctx context.Context, from catalogpb.Phase, reply *sessionpb.ExecuteReply, refusal *catalog.Refusal) (*sessionpb.ExecuteReply, error) {
	x := c.execution(from, catalogpb.Phase_FINISHED)
	if reply != nil {
		var err error
		if x.Reply, err = encodeReply(reply); err != nil {
			return nil, err
		}
	}
	if refusal != nil {
		x.Refusal = refusal.Record()
	}
	return c.propose(ctx, x, nil)
}

func (c *command) execution(from, to catalogpb.Phase) *catalogpb.Execution {
	return &catalogpb.Execution{
		Reference: c.reference[:], Owner: c.owner, Domain: c.domain, Digest: []byte(c.digest), Position: c.position, From: from, To: to,
	}
}

// propose moves the command on. It returns its reply when that ended it, and
// nothing when the state tells how to go on.
func (c *command) propose(ctx context.Context, x *catalogpb.Execution, steps []*catalogpb.Step) (*sessionpb.ExecuteReply, error) {
	result, err := c.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps, Execution: x})
	c.doubt = errors.Is(err, control.ErrOutcomeUnknown)
	if err != nil {
		return c.unproposed(ctx, x.GetFrom(), err)
	}
	switch {
	case result.Known != nil:
		if what := c.differs(bindingOf(result.Known)); what != "" {
			return conflict(what), nil
		}
		return nil, nil
	case result.Refused == nil:
		return c.ended(x)
	case result.Refused.Stale:
		return nil, nil
	case result.Refused.Code == catalog.ReferenceExpired:
		return expired(), nil
	}
	leaseConflict.HitIf(result.Refused.Code == catalog.Conflict)
	return refused(result.Refused), nil
}

// ended returns the reply of a command that a proposal finished.
func (c *command) ended(x *catalogpb.Execution) (*sessionpb.ExecuteReply, error) {
	if x.GetTo() != catalogpb.Phase_FINISHED {
		return nil, nil
	}
	known, ok := c.service.deps.Group.State().Execution(c.reference)
	if !ok {
		return nil, errNoAnswer
	}
	reply := recovered(known)
	reply.Origin = sessionpb.Origin_EXECUTED
	return reply, nil
}

// unproposed answers for a proposal that was not taken, or whose outcome is not
// known.
func (c *command) unproposed(ctx context.Context, from catalogpb.Phase, err error) (*sessionpb.ExecuteReply, error) {
	switch {
	case errors.Is(err, control.ErrOutcomeUnknown), from != catalogpb.Phase_ABSENT, ctx.Err() != nil:
		return nil, errNoAnswer
	case errors.Is(err, control.ErrTooLarge):
		return refused(&catalog.Refusal{Code: catalog.Invalid, Message: err.Error()}), nil
	case errors.Is(err, control.ErrBusy):
		return refused(&catalog.Refusal{Code: catalog.Busy, Message: err.Error()}), nil
	case errors.Is(err, control.ErrNotLeader):
		return c.service.redirect(), nil
	}
	return nil, refusal(client.Unavailable, "%v", err)
}

// stopped is the end of a command that its leader could not finish: the next one
// goes on with it.
func (c *command) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		c.service.world.Log().Warn("a command waits for the next attempt", "reference", c.reference, "error", err)
	}
	return errNoAnswer
}

func encodeReply(reply *sessionpb.ExecuteReply) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(reply)
	if err != nil {
		return nil, fmt.Errorf("encode reply: %w", err)
	}
	return b, nil
}
