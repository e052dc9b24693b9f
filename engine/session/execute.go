package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/primitives"
)

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
	q := &request{
		service: s, session: x, owner: user.Name, text: r.GetStatements(), domain: r.GetDomain(), preview: r.GetExpectedPreview(),
	}
	if r.ExpectedPosition != nil {
		q.position = *r.ExpectedPosition + 1
	}
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
	if err := s.tellTransaction(ctx, q, reply); err != nil {
		return nil, err
	}
	if proto.Size(reply) > replyBytesMax {
		return nil, refusal(client.ReplyTooLarge, "the reply exceeds %d bytes", replyBytesMax)
	}
	return reply, nil
}

// binding is what an execution reference stands for. Position is that in a
// transaction, plus one.
type binding struct {
	owner, domain string
	position      uint32
	digest        string
}

func bindingOf(x *catalog.Execution) binding { return binding{x.Owner, x.Domain, x.Position, x.Digest} }

// differs says in which part a request is not what its reference stands for, ""
// for none. Whoever asks for an outcome later need not know the position.
func (b binding) differs(o binding) string {
	switch {
	case b.owner != o.owner:
		return "owner"
	case b.domain != o.domain:
		return "domain"
	case b.position != 0 && b.position != o.position:
		return "position"
	case b.digest != o.digest:
		return "content"
	}
	return ""
}

// request is one Execute in progress.
type request struct {
	service   *Service
	session   *session
	owner     string
	reference primitives.UUID
	text      string
	domain    string // selected
	position  uint32 // that the client expects in its transaction, plus one; 0 outside
	preview   *sessionpb.PreviewId
	digest    string // of the whole request
	tenure    *tenure
}

func (q *request) binding() binding { return binding{q.owner, q.domain, q.position, q.digest} }

func (q *request) state() *catalog.State { return q.service.deps.Group.State() }

// run parses the request and takes it to where it belongs: what only reads is
// answered here, everything else by the leader.
func (q *request) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	statements, err := parse.Statements(q.text)
	if err != nil {
		return q.failed(diagnostics(err)), nil
	}
	if q.position == 0 && q.local(statements) {
		held, err := q.service.boundTo(ctx, q.session)
		if err != nil {
			return nil, err
		}
		if held == (primitives.UUID{}) {
			return q.reads(ctx, statements)
		}
	}
	if q.tenure, err = q.service.leading(ctx); err != nil {
		return nil, err
	}
	if q.tenure == nil {
		return q.service.redirect(), nil
	}
	q.digest = digestOf(q.text, statements)
	if reply, err := q.repeated(ctx); reply != nil || err != nil {
		return reply, err
	}
	if q.service.displaced(q.session) {
		return &sessionpb.ExecuteReply{
			Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_TAKEN_OVER, Text: "transaction taken over by another session",
			Transaction: &sessionpb.TransactionStatus{},
		}, nil
	}
	return q.lead(ctx, statements)
}

// local reports whether every node can answer the statements.
func (q *request) local(statements []ast.Statement) bool {
	for _, statement := range statements {
		if _, leaders := statement.(*ast.DescribeTransaction); leaders {
			return false
		}
		if class := ast.ClassOf(statement); class != ast.ReadOnly && class != ast.ClientLocal && class != ast.SessionLocal {
			return false
		}
	}
	return true
}

// redirect names the leader to a client that needs it.
func (s *Service) redirect() *sessionpb.ExecuteReply {
	redirected.Hit()
	l := s.leader()
	reply := &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_REDIRECT, Redirect: &sessionpb.Redirect{},
		Text: "no leader is known here; retry",
	}
	if l.Known && !l.Here {
		reply.Redirect = &sessionpb.Redirect{Node: l.Node, ClientUrl: l.ClientURL, ConsoleUrl: l.ConsoleURL}
		reply.Text = fmt.Sprintf("node '%s' leads; ask there", l.Node)
	}
	return reply
}

// leader says who leads.
func (s *Service) leader() Leadership {
	if s.deps.Cluster != nil {
		return s.deps.Cluster.Leader()
	}
	group := s.deps.Group
	raftID, known := group.Leader()
	if group.Leads() {
		return Leadership{Node: group.Identity().NodeID, ClientURL: s.deps.ClientURL, Here: true, Known: true}
	}
	n, member := group.State().NodeByRaft(raftID)
	if !known || !member {
		return Leadership{}
	}
	return Leadership{Node: n.ID, ClientURL: n.Client, ConsoleURL: n.Console, Known: true}
}

// lead runs a request on the leader.
func (q *request) lead(ctx context.Context, statements []ast.Statement) (*sessionpb.ExecuteReply, error) {
	held, err := q.service.boundTo(ctx, q.session)
	if err != nil {
		return nil, err
	}
	bound := held != (primitives.UUID{})
	switch {
	case q.position > 0 && !bound:
		detached.Hit()
		return &sessionpb.ExecuteReply{
			Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_DETACHED,
			Text: "the session is not bound to its transaction here; attach, and repeat the request",
		}, nil
	case len(statements) == 0 || len(statements) == 1 && ast.BesideTransaction(statements[0]):
		return q.reads(ctx, statements)
	case len(statements) > 1 && !bound && !isControl(statements[0]):
		return q.fail(ast.CodeTxRequired, statements[1], "several statements need BEGIN … COMMIT"), nil
	}
	reply, err := q.conclude(ctx, func() (*sessionpb.ExecuteReply, error) {
		if bound || isControl(statements[0]) {
			return q.script(ctx, held, statements)
		}
		return q.one(ctx, statements[0])
	})
	if reply != nil {
		for _, statement := range statements {
			q.service.count(statement, reply.GetDisposition())
		}
	}
	return reply, err
}

// conclude carries a request out. An answer that recorded nothing, as that of a
// refused plan, tells what the state was: it holds only if nothing that others were
// told was missing there. A leader that was replaced without knowing has such a
// state, and finds that it leads no longer.
func (q *request) conclude(ctx context.Context, carryOut func() (*sessionpb.ExecuteReply, error)) (*sessionpb.ExecuteReply, error) {
	for proven := uint64(0); ; {
		seen := q.state().Applied
		reply, err := carryOut()
		if err != nil || !q.tells(reply) || proven > 0 && seen >= proven {
			return reply, err
		}
		if proven == 0 {
			if proven, err = q.service.deps.Group.ReadIndex(ctx); err == nil && seen >= proven {
				return reply, nil
			}
		}
		if err == nil {
			staleRefusal.Hit()
			err = q.service.deps.Group.WaitApplied(ctx, proven)
		}
		switch {
		case ctx.Err() != nil:
			return nil, err
		case err != nil:
			return q.service.redirect(), nil
		}
	}
}

// tells reports whether a reply speaks of the state without a record of it.
func (q *request) tells(reply *sessionpb.ExecuteReply) bool {
	switch reply.GetDisposition() {
	case sessionpb.Disposition_COMPLETED, sessionpb.Disposition_FAILED, sessionpb.Disposition_PREVIEW_STALE:
		_, recorded := q.state().Execution(q.reference)
		return !recorded
	}
	return false
}

// isControl reports whether a statement begins or ends a transaction.
func isControl(statement ast.Statement) bool { return ast.ClassOf(statement) == ast.TxControl }

// reads answers statements that change nothing, one in a request.
func (q *request) reads(ctx context.Context, statements []ast.Statement) (*sessionpb.ExecuteReply, error) {
	if len(statements) == 0 {
		return &sessionpb.ExecuteReply{Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED, Document: document.List()}, nil
	}
	if len(statements) > 1 {
		return q.fail(ast.CodeTxRequired, statements[1], "several statements need BEGIN … COMMIT"), nil
	}
	statement := statements[0]
	if _, ok := statement.(*ast.Clock); ok {
		return q.fail(ast.CodeUnavailable, statement, "not available yet: following the clock of a domain"), nil
	}
	if ast.ClassOf(statement) == ast.SessionLocal {
		return q.fail(codeSessionRefused, statement, "%s is a call of its own: run plexus subscribe, or Subscribe and Unsubscribe of the session", ast.Words(statement)), nil
	}
	reply := q.read(ctx, statement)
	q.service.count(statement, reply.GetDisposition())
	return reply, nil
}

func (s *Service) count(statement ast.Statement, d sessionpb.Disposition) {
	if s.deps.Counts != nil {
		s.deps.Counts(ast.Words(statement), d)
	}
}

// digestOf identifies what a request asks for: its persistent statement, however it
// is spelled, or else its exact text. Passwords are left out: a plain hash of one
// would be an invitation.
func digestOf(text string, statements []ast.Statement) string {
	if len(statements) == 1 && !isControl(statements[0]) {
		text = cmp.Or(canonical(statements[0]), render.Statement(statements[0]), text)
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// repeated answers a request whose reference is known already, or joins the
// command that is under way. Reads carry none.
func (q *request) repeated(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	if q.reference == (primitives.UUID{}) {
		return nil, nil
	}
	s := q.service
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	under := q.tenure.applying[q.reference]
	known, ok := q.state().Execution(q.reference)
	if under == nil && ok && known.Phase != catalog.Finished && q.binding().differs(bindingOf(known)) == "" {
		// It is about to be resumed.
		under = q.adopt(known)
	}
	s.lock.Unlock()
	switch {
	case under != nil:
		return q.join(ctx, under)
	case ok:
		return q.binding().recovered(known), nil
	}
	return nil, nil
}

// adopt resumes an execution before the duties of the tenure find it. The lock is
// held.
func (q *request) adopt(x *catalog.Execution) *applying {
	s := q.service
	for of := range q.state().ActiveTransactions() {
		if of.State == catalog.Committing && of.Reference == x.Reference {
			return s.begin(q.tenure, x.Reference, bindingOf(x), (&committing{service: s, id: of.ID}).run)
		}
	}
	return s.begin(q.tenure, x.Reference, bindingOf(x), s.resumed(q.tenure, x).run)
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

func (a *applying) result() (*sessionpb.ExecuteReply, error) {
	if a.err != nil {
		return nil, a.err
	}
	return proto.Clone(a.reply).(*sessionpb.ExecuteReply), nil
}

func conflict(what string) *sessionpb.ExecuteReply {
	return &sessionpb.ExecuteReply{
		Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_REFERENCE_CONFLICT, Detail: what,
		Text: "the execution reference belongs to another command: " + what + " differs",
	}
}

// recovered is the retained outcome of the reference, for whom it is bound to.
func (b binding) recovered(known *catalog.Execution) *sessionpb.ExecuteReply {
	if what := b.differs(bindingOf(known)); what != "" {
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

// admissible refuses references from outside the window in which they can be
// told from reclaimed ones. The leader's clock counts as never going back.
func (q *request) admissible() *sessionpb.ExecuteReply {
	created := referenceTime(q.reference)
	state := q.state()
	now := max(q.service.world.Clock().Wall().UnixNano(), state.HighWater)
	if created < state.Fence || created > now+int64(referenceAhead) {
		return expired()
	}
	if state.HistoryFull() {
		return refused(&catalog.Refusal{Code: catalog.Busy, Message: fmt.Sprintf("the history holds %d commands, its limit; retry later", state.Limits.History)})
	}
	return nil
}

func expired() *sessionpb.ExecuteReply {
	return &sessionpb.ExecuteReply{
		Disposition: sessionpb.Disposition_REFERENCE_EXPIRED, Text: "reference expired; nothing was executed",
	}
}

// needReference refuses persistent statements without a reference.
func (q *request) needReference() error {
	if q.reference == (primitives.UUID{}) {
		return refusal(client.InvalidArgument, "execution_reference: a persistent statement needs one")
	}
	return nil
}
