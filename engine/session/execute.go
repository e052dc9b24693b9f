package session

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"plexus/nspl/parse"
	"plexus/primitives"
)

// ActivationError says that a committed revision could not be executed by a node.
type ActivationError struct {
	Domain string
	Node   string
	Err    error
}

func (e *ActivationError) Error() string {
	return fmt.Sprintf("the definitions of domain '%s' were committed, but node '%s' could not activate them: %v", e.Domain, e.Node, e.Err)
}

// Unwrap returns the cause.
func (e *ActivationError) Unwrap() error { return e.Err }

// Execute runs the statements of one request.
func (s *Service) Execute(ctx context.Context, user *catalog.User, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	if len(r.GetStatements()) > requestBytesMax {
		return nil, refusal(client.InvalidArgument, "statements: more than %d bytes", requestBytesMax)
	}
	if !s.deps.Runtime.Admitted() {
		return nil, refusal(client.Unavailable, "the node has not been admitted yet; retry")
	}
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx, x)
	if err != nil {
		return nil, err
	}
	defer leave()
	if r.ExpectedPosition != nil && x.tx == nil {
		return &sessionpb.ExecuteReply{
			ExecutionReference: r.GetExecutionReference(), Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_DETACHED,
			Text: "the session is not bound to its transaction here; attach, and repeat the request",
		}, nil
	}
	q := &request{service: s, session: x, user: user, text: r.GetStatements(), domain: r.GetDomain()}
	if r.GetExecutionReference() != "" {
		if q.reference, err = parseReference(r.GetExecutionReference()); err != nil {
			return nil, refusal(client.InvalidArgument, "execution_reference: %v", err)
		}
	}
	reply, err := q.run(ctx)
	if err != nil {
		return nil, err
	}
	reply.ExecutionReference = r.GetExecutionReference()
	reply.Transaction = x.tx.status()
	if proto.Size(reply) > replyBytesMax {
		return nil, refusal(client.ReplyTooLarge, "the reply exceeds %d bytes", replyBytesMax)
	}
	if reply.GetDisposition() != sessionpb.Disposition_UNKNOWN {
		x.last = answered{reference: q.reference, binding: q.binding(), reply: reply}
	}
	return reply, nil
}

// binding is what an execution reference stands for.
type binding struct{ owner, domain, digest string }

// differs says which part of another binding is not the same, "" for none.
func (b binding) differs(o binding) string {
	switch {
	case b.owner != o.owner:
		return "owner"
	case b.domain != o.domain:
		return "domain"
	case b.digest != o.digest:
		return "content"
	}
	return ""
}

// answered is the last request of a session. A client that lost the reply repeats
// it; what a session holds, such as a queued statement, has no other record of its
// reference.
type answered struct {
	reference primitives.UUID
	binding
	reply *sessionpb.ExecuteReply
}

func (a *answered) again(q *request) *sessionpb.ExecuteReply {
	if q.reference == (primitives.UUID{}) || a.reference != q.reference || a.differs(q.binding()) != "" {
		return nil
	}
	reply := proto.Clone(a.reply).(*sessionpb.ExecuteReply)
	reply.Origin = sessionpb.Origin_RECOVERED
	return reply
}

// request is one Execute in progress.
type request struct {
	service   *Service
	session   *session
	user      *catalog.User
	reference primitives.UUID
	text      string
	domain    string // selected
	digest    string // of the whole request
}

func (q *request) binding() binding { return binding{q.user.Name, q.domain, q.digest} }

func (q *request) state() *catalog.State { return q.service.deps.Group.State() }

// run parses the request and runs its statements in order up to the first
// failure.
func (q *request) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	statements, err := parse.Statements(q.text)
	if err != nil {
		return q.failed(diagnostics(err)), nil
	}
	q.digest = digestOf(q.text, statements)
	if reply := q.session.last.again(q); reply != nil {
		return reply, nil
	}
	if reply, err := q.repeated(ctx); reply != nil || err != nil {
		return reply, err
	}
	if outside := q.outside(statements); outside != nil {
		return q.fail(ast.CodeTxRequired, outside, "several statements need BEGIN … COMMIT"), nil
	}
	total := &sessionpb.ExecuteReply{Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED}
	var documents []document.Value
	for _, statement := range statements {
		reply, err := q.one(ctx, statement)
		if err != nil {
			return nil, err
		}
		q.service.count(statement, reply.GetDisposition())
		if len(statements) == 1 || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
			return reply, nil
		}
		if reply.GetText() != "" && total.Text != "" {
			total.Text += "\n"
		}
		total.Text += reply.GetText()
		total.Origin = reply.GetOrigin()
		total.Statements = append(total.Statements, reply.GetStatements()...)
		documents = append(documents, reply.GetDocument())
	}
	total.Document = document.List(documents...)
	return total, nil
}

// outside returns a statement that does not stand in the transaction of a request
// of several, nil where all do. Nothing may follow the end of a transaction: the
// request has one reference, and that is the reference of what COMMIT does.
func (q *request) outside(statements []ast.Statement) ast.Statement {
	for i := 1; i < len(statements); i++ {
		switch before := statements[i-1].(type) {
		case *ast.Commit, *ast.Revert:
			return statements[i]
		default:
			if i == 1 && q.session.tx == nil && !isBegin(before) {
				return statements[i]
			}
		}
	}
	return nil
}

func (s *Service) count(statement ast.Statement, d sessionpb.Disposition) {
	if s.deps.Counts != nil {
		s.deps.Counts(head(statement), d)
	}
}

// one runs one statement.
func (q *request) one(ctx context.Context, statement ast.Statement) (*sessionpb.ExecuteReply, error) {
	switch statement.(type) {
	case *ast.AlterDomain, *ast.AlterPlacement, *ast.NodeControl, *ast.Relocate:
		return q.fail(ast.CodeUnavailable, statement, "not available yet: %s", head(statement)), nil
	}
	switch class := ast.ClassOf(statement); class {
	case ast.ReadOnly, ast.ClientLocal:
		if q.session.tx != nil {
			return q.fail(codeNotQueueable, statement, "%s cannot stand in a transaction", head(statement)), nil
		}
		return q.read(statement), nil
	case ast.SessionLocal:
		return q.fail(codeSessionRefused, statement, "%s is a call of its own: run plexus subscribe, or Subscribe and Unsubscribe of the session", head(statement)), nil
	case ast.TxControl:
		return q.control(ctx, statement)
	default:
		if q.session.tx != nil {
			return q.queue(statement, class), nil
		}
		plan, reply, err := q.planner(ctx, statement)
		if reply != nil || err != nil {
			return reply, err
		}
		return q.commit(ctx, plan)
	}
}

// digestOf identifies what a request asks for: its persistent statement, however it
// is spelled, or else its exact text. Passwords are left out: a plain hash of one
// would be an invitation.
func digestOf(text string, statements []ast.Statement) string {
	if len(statements) == 1 {
		text = cmp.Or(canonical(statements[0]), text)
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// repeated answers a request whose reference is known already, or joins the
// command that is under way. Reads and queued statements carry none.
func (q *request) repeated(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	if q.reference == (primitives.UUID{}) {
		return nil, nil
	}
	s := q.service
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	under := s.applying[q.reference]
	s.lock.Unlock()
	if under != nil {
		return q.join(ctx, under)
	}
	// Looked up last: a command is in the history before it stops applying.
	if known, ok := q.state().Execution(q.reference); ok {
		return q.binding().recovered(known), nil
	}
	return nil, nil
}

// join waits for a command that has the reference of this request.
func (q *request) join(ctx context.Context, under *applying) (*sessionpb.ExecuteReply, error) {
	if what := q.binding().differs(under.binding); what != "" {
		return conflict(what), nil
	}
	if err := under.done.Wait(ctx); err != nil {
		return nil, err
	}
	return under.result()
}

func conflict(what string) *sessionpb.ExecuteReply {
	return &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_REFERENCE_CONFLICT, Detail: what,
		Text: "the execution reference belongs to another command: " + what + " differs",
	}
}

// recovered is the retained outcome of the reference, for whom it is bound to.
func (b binding) recovered(known *catalog.Execution) *sessionpb.ExecuteReply {
	if what := b.differs(binding{known.Owner, known.Domain, known.Digest}); what != "" {
		return conflict(what)
	}
	return recovered(known)
}

// recovered is the retained outcome of a reference.
func recovered(known *catalog.Execution) *sessionpb.ExecuteReply {
	reply := &sessionpb.ExecuteReply{}
	if known.Refusal != nil {
		reply = refused(known.Refusal)
	} else if err := proto.Unmarshal(known.Reply, reply); err != nil {
		reply = &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_COMPLETED}
	}
	reply.Origin = sessionpb.Origin_RECOVERED
	reply.ExecutionReference = known.Reference.String()
	return reply
}

// planned is what a request is about to commit.
type planned struct {
	steps    []*catalogpb.Step
	outcomes []*sessionpb.StatementOutcome
	domains  []string // to wait for
	level    string   // "" where no quiesce level is reported
	drains   bool     // running work has to finish before the command is proposed
}

// planner plans against a state. It runs again when the state changed before its
// result was committed.
type planner func(*catalog.State) (*planned, *sessionpb.ExecuteReply)

func (p *planned) reply() *sessionpb.ExecuteReply {
	var m document.Map
	for _, o := range p.outcomes {
		m.Set(document.Bare, document.Text(o.GetText()))
	}
	if p.level != "" {
		m.Set("quiesce level", document.Text(p.level))
	}
	return &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED,
		Statements: p.outcomes, Document: m.Value(), Text: document.Render(m.Value()),
	}
}

// commit runs a plan as a command under the request's reference. The command goes
// on when the caller gives up waiting.
func (q *request) commit(ctx context.Context, plan planner) (*sessionpb.ExecuteReply, error) {
	if q.reference == (primitives.UUID{}) {
		return nil, refusal(client.InvalidArgument, "execution_reference: a persistent statement needs one")
	}
	if reply := q.admissible(); reply != nil {
		return reply, nil
	}
	s := q.service
	under := &applying{binding: q.binding(), done: primitives.NewEvent(s.world)}
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	if other := s.applying[q.reference]; other != nil {
		s.lock.Unlock()
		return q.join(ctx, other)
	}
	s.applying[q.reference] = under
	s.lock.Unlock()
	command := &command{service: s, reference: q.reference, binding: under.binding, plan: plan}
	s.commands.Go("command", func(ctx context.Context) error {
		under.reply, under.err = command.run(ctx)
		under.done.Set()
		_ = s.lock.Lock(context.Background()) // must not be skipped
		delete(s.applying, command.reference)
		s.lock.Unlock()
		return nil
	})
	if err := under.done.Wait(ctx); err != nil {
		return nil, err
	}
	return under.result()
}

func (a *applying) result() (*sessionpb.ExecuteReply, error) {
	if a.err != nil {
		return nil, a.err
	}
	return proto.Clone(a.reply).(*sessionpb.ExecuteReply), nil
}

// admissible refuses references from outside the window in which they can be
// told from reclaimed ones. The leader's clock counts as never going back.
func (q *request) admissible() *sessionpb.ExecuteReply {
	created := referenceTime(q.reference)
	state := q.state()
	now := max(q.service.world.Clock().Wall().UnixNano(), state.HighWater)
	if created < state.Fence || created > now+int64(referenceAhead) {
		return &sessionpb.ExecuteReply{
			Disposition: sessionpb.Disposition_REFERENCE_EXPIRED, Text: "reference expired; nothing was executed",
		}
	}
	if state.HistoryFull() {
		return refused(&catalog.Refusal{Code: catalog.Busy, Message: "the history of commands is full; retry later"})
	}
	return nil
}

// command is one admitted command.
type command struct {
	service   *Service
	reference primitives.UUID
	binding
	plan planner
}

// run plans, commits and waits until the effect is usable, again from the new
// state when another command came in between.
func (c *command) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	for range replansMax {
		p, failed := c.plan(c.service.deps.Group.State())
		if failed != nil {
			return failed, nil
		}
		if len(p.steps) == 0 {
			return p.reply(), nil
		}
		release, failed := c.drain(ctx, p)
		if failed != nil {
			return failed, nil
		}
		reply, again, err := c.propose(ctx, p)
		release()
		if err != nil || !again {
			return reply, err
		}
	}
	return refused(&catalog.Refusal{Code: catalog.Conflict, Message: fmt.Sprintf("domain '%s' kept changing; retry", c.domain)}), nil
}

// drain lets what the command takes away finish. A drain that does not end in time
// refuses the command before anything was committed.
func (c *command) drain(ctx context.Context, p *planned) (release func(), failed *sessionpb.ExecuteReply) {
	if !p.drains {
		return func() {}, nil
	}
	release, err := c.service.deps.Runtime.Quiesce(ctx, c.domain)
	if err != nil {
		return nil, refused(&catalog.Refusal{Code: "drain", Message: err.Error()})
	}
	return release, nil
}

func (c *command) propose(ctx context.Context, p *planned) (reply *sessionpb.ExecuteReply, again bool, err error) {
	reply = p.reply()
	retained, err := proto.MarshalOptions{Deterministic: true}.Marshal(reply)
	if err != nil {
		return nil, false, fmt.Errorf("encode reply: %w", err)
	}
	result, err := c.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: p.steps, Execution: &catalogpb.Execution{
		Reference: c.reference[:], Owner: c.owner, Domain: c.domain, Digest: []byte(c.digest), Reply: retained, To: catalogpb.Phase_FINISHED,
	}})
	switch {
	case errors.Is(err, control.ErrOutcomeUnknown):
		return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_UNKNOWN, Detail: "still_applying", Text: err.Error()}, false, nil
	case errors.Is(err, control.ErrTooLarge):
		return refused(&catalog.Refusal{Code: catalog.Invalid, Message: err.Error()}), false, nil
	case err != nil:
		return nil, false, refusal(client.Unavailable, "%v", err)
	case result.Known != nil:
		return c.recovered(result.Known), false, nil
	case result.Refused != nil && result.Refused.Stale:
		return nil, true, nil
	}
	if result.Refused != nil {
		reply = refused(result.Refused)
	}
	for _, domain := range p.domains {
		if failed, err := c.settle(ctx, domain, result.Index); failed != nil || err != nil {
			return failed, false, err
		}
	}
	return reply, false, nil
}

// settle waits at the completion barrier of this node.
func (c *command) settle(ctx context.Context, domain string, index uint64) (*sessionpb.ExecuteReply, error) {
	err := c.service.deps.Runtime.Settle(ctx, domain, index)
	var activation *ActivationError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &activation):
		return refused(&catalog.Refusal{Code: "activation", Message: activation.Error()}), nil
	default:
		return &sessionpb.ExecuteReply{Disposition: sessionpb.Disposition_UNKNOWN, Detail: "not_yet_visible", Text: err.Error()}, nil
	}
}
