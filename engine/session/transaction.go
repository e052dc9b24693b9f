package session

import (
	"context"
	"fmt"
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/session/document"
	"plexus/engine/session/sessionpb"
	"plexus/engine/transaction"
	"plexus/nspl/ast"
	"plexus/primitives"
)

// script is what one request does with a transaction: begin it, append to it, end
// it. All of it happens, or nothing.
type script struct {
	q          *request
	id         primitives.UUID
	domain     string
	begin      ast.Statement // nil where the transaction is there already
	appends    []ast.Statement
	end        ast.Statement // nil where it stays open
	statements []transaction.Statement
	// proposed says that the state holds the transaction with what is appended:
	// what follows was too long for the same command.
	proposed bool
}

// script runs a request of a session that is bound to a transaction, or of one
// that begins with BEGIN, COMMIT or REVERT.
func (q *request) script(ctx context.Context, held primitives.UUID, statements []ast.Statement) (*sessionpb.ExecuteReply, error) {
	if err := q.needReference(); err != nil {
		return nil, err
	}
	x := &script{q: q, id: held, domain: q.domain}
	if of, ok := q.state().Transaction(held); ok {
		x.domain = of.Domain
		if reply, err := q.ended(ctx, of, statements[0]); reply != nil || err != nil {
			return reply, err
		}
	}
	if reply := x.divide(statements); reply != nil {
		return reply, nil
	}
	if reply := q.admissible(); reply != nil {
		return reply, nil
	}
	return x.run(ctx)
}

// ended answers a session whose transaction came to its end without it.
func (q *request) ended(ctx context.Context, x *catalog.Transaction, at ast.Statement) (*sessionpb.ExecuteReply, error) {
	switch {
	case x.State != catalog.Open:
		reply := q.fail(codeTxState, at, "transaction %s is %s", x.ID, x.State)
		reply.Transaction = &sessionpb.TransactionStatus{}
		return reply, q.service.unbind(ctx, q.session)
	case q.position > 0 && q.position != x.Operations+1:
		return q.fail(codeTxState, at, "transaction %s holds %d statements, not %d", x.ID, x.Operations, q.position-1), nil
	}
	return nil, nil
}

// divide tells the parts of the request apart. The reply refuses what does not
// stand in a transaction.
func (x *script) divide(statements []ast.Statement) *sessionpb.ExecuteReply {
	q, rest := x.q, statements
	bound := x.id != (primitives.UUID{})
	if _, begin := rest[0].(*ast.Begin); begin {
		if bound {
			return q.fail(codeTxState, rest[0], "a transaction on domain '%s' is open already", x.domain)
		}
		if reply := q.needDomain(rest[0]); reply != nil {
			return reply
		}
		x.begin, rest = rest[0], rest[1:]
		x.id = primitives.NewUUIDv7(q.service.world.Entropy(), q.service.world.Clock().Wall())
	} else if !bound {
		return q.fail(codeTxState, rest[0], "no transaction is open; run BEGIN")
	}
	for i, statement := range rest {
		switch class := ast.ClassOf(statement); {
		case class == ast.TxControl && isBegin(statement):
			return q.fail(codeTxState, statement, "a transaction on domain '%s' is open already", x.domain)
		case class == ast.TxControl && i < len(rest)-1:
			return q.fail(ast.CodeTxRequired, rest[i+1], "several statements need BEGIN … COMMIT")
		case class == ast.TxControl:
			x.end = statement
		case !class.Queueable():
			return q.fail(codeNotQueueable, statement, "%s cannot stand in a transaction", ast.Words(statement))
		case q.domain != x.domain:
			return q.fail(codeTxState, statement, "statement selects domain '%s' but the transaction is bound to '%s'", q.domain, x.domain)
		default:
			x.appends = append(x.appends, statement)
		}
	}
	return nil
}

// run plans the script and proposes it, again when the transaction or the domain
// changed meanwhile.
func (x *script) run(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	if _, revert := x.end.(*ast.Revert); revert && x.begin == nil && len(x.appends) == 0 {
		return x.finish(ctx, x.proposal(x.step(x.end)), x.reverted())
	}
	for range replansMax {
		plan, reply := x.plan(x.q.state())
		if reply != nil {
			return reply, nil
		}
		switch x.end.(type) {
		case *ast.Commit:
			reply, again, err := x.commit(ctx, plan)
			if !again {
				return reply, err
			}
		case *ast.Revert:
			if x.begin != nil {
				return x.preface(document.Text(x.reverted())), nil
			}
			return x.finish(ctx, x.proposal(x.step(x.end)), x.reverted())
		default:
			reply, again, err := x.queue(ctx, plan)
			if !again {
				return reply, err
			}
		}
		replanned.Hit()
	}
	return refused(&catalog.Refusal{Code: catalog.Conflict, Message: fmt.Sprintf("domain '%s' kept changing; retry", x.domain)}), nil
}

// plan replays the accepted statements and the new ones.
func (x *script) plan(state *catalog.State) (*transaction.Plan, *sessionpb.ExecuteReply) {
	q := x.q
	list, err := operations(state, x.id)
	if err != nil {
		return nil, refused(&catalog.Refusal{Code: catalog.Invalid, Message: err.Error()})
	}
	if reply := x.limits(state, list); reply != nil && !x.proposed {
		return nil, reply
	}
	for _, statement := range x.appends {
		if x.proposed {
			break
		}
		one, found := transaction.NewStatement(statement, q.text)
		if len(found) > 0 {
			return nil, q.failed(found)
		}
		list = append(list, one)
	}
	x.statements = list
	plan, fault := transaction.Make(q.service.view(state), x.domain, list)
	if fault != nil {
		return nil, x.faulty(fault)
	}
	return plan, nil
}

// limits refuses what the transaction cannot hold, before anything is planned.
func (x *script) limits(state *catalog.State, list []transaction.Statement) *sessionpb.ExecuteReply {
	count, source := len(list), 0
	for i := range list {
		source += len(list[i].Text)
	}
	for _, statement := range x.appends {
		count++
		source += len(x.q.text[statement.Place().Start:statement.Place().End])
		switch l := state.Limits; {
		case count > int(l.TransactionStatements):
			return x.q.fail(codeTxLimit, statement, "a transaction holds at most %d statements", l.TransactionStatements)
		case uint64(source) > l.TransactionSource:
			return x.q.fail(codeTxLimit, statement, "the statements of a transaction have at most %d bytes", l.TransactionSource)
		}
	}
	return nil
}

// operations reads the accepted statements of a transaction.
func operations(state *catalog.State, id primitives.UUID) (list []transaction.Statement, err error) {
	for o := range state.OperationsOf(id) {
		one, err := transaction.Read(o.Text)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", o.Position, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// faulty reports a fault with the text it points into.
func (x *script) faulty(f *transaction.Fault) *sessionpb.ExecuteReply {
	if f.Operation < 0 {
		return x.q.failed(f.Found)
	}
	text := x.statements[f.Operation].Text
	if text != x.q.text { // the request does not show what it is about
		for _, d := range f.Found {
			d.Naming()
		}
	}
	reply := failedIn(text, x.q.domain, f.Found)
	for _, d := range reply.Diagnostics {
		d.HasSpan = d.HasSpan && text == x.q.text
		d.Message = fmt.Sprintf("operation %d: %s", f.Operation+1, d.Message)
	}
	reply.Text = fmt.Sprintf("operation %d:\n%s", f.Operation+1, reply.Text)
	return reply
}

// proposal is the steps that begin the transaction and append to it, and others.
func (x *script) proposal(more ...*catalogpb.Step) (steps []*catalogpb.Step) {
	if x.proposed {
		return more
	}
	if x.begin != nil {
		steps = append(steps, x.step(x.begin))
	}
	accepted := uint32(len(x.statements) - len(x.appends))
	for i := range x.appends {
		steps = append(steps, &catalogpb.Step{Body: &catalogpb.Step_AppendOperation{AppendOperation: &catalogpb.AppendOperation{
			Id: x.id[:], Owner: x.q.owner, Position: accepted + uint32(i) + 1, Text: x.statements[int(accepted)+i].Own()}}})
	}
	return append(steps, more...)
}

// step is the step of BEGIN or REVERT.
func (x *script) step(statement ast.Statement) *catalogpb.Step {
	if _, revert := statement.(*ast.Revert); revert {
		return &catalogpb.Step{Body: &catalogpb.Step_RevertTransaction{RevertTransaction: &catalogpb.RevertTransaction{Id: x.id[:], Owner: x.q.owner}}}
	}
	return &catalogpb.Step{Body: &catalogpb.Step_BeginTransaction{BeginTransaction: &catalogpb.BeginTransaction{
		Id: x.id[:], Owner: x.q.owner, Domain: x.domain}}}
}

func (x *script) reverted() string {
	of, _ := x.q.state().Transaction(x.id)
	n := len(x.appends)
	if of != nil {
		n += int(of.Operations)
	}
	return fmt.Sprintf("transaction reverted: dropped %d command(s)", n)
}

// preface is the reply of what stands before the end of the script, with the
// lines of the end.
func (x *script) preface(lines ...document.Value) *sessionpb.ExecuteReply {
	var m document.Map
	reply := &sessionpb.ExecuteReply{Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_COMPLETED}
	add := func(o *sessionpb.StatementOutcome) {
		reply.Statements = append(reply.Statements, o)
		facts(&m, o.GetText())
	}
	if x.begin != nil {
		add(&sessionpb.StatementOutcome{Statement: ast.Words(x.begin), Text: fmt.Sprintf("transaction %s on domain '%s'", x.id, x.domain)})
	}
	accepted := len(x.statements) - len(x.appends)
	for i, statement := range x.appends {
		position := accepted + i + 1
		add(&sessionpb.StatementOutcome{
			Statement: ast.Words(statement), Queued: true, Position: uint32(position),
			Text: fmt.Sprintf("queued %s at position %d", x.subject(position), position),
		})
	}
	for _, line := range lines {
		add(&sessionpb.StatementOutcome{Statement: ast.Words(x.end), Text: line.GetScalar().GetText()})
	}
	reply.Document = m.Value()
	reply.Text = document.Render(reply.Document)
	return reply
}

// subject names what a statement is about.
func (x *script) subject(position int) string {
	return transaction.Subject(&x.statements[position-1], x.domain)
}

// queue accepts the new statements.
func (x *script) queue(ctx context.Context, plan *transaction.Plan) (reply *sessionpb.ExecuteReply, again bool, err error) {
	q := x.q
	reply = x.preface()
	for i := range x.appends {
		if at := len(x.statements) - len(x.appends) + i; plan.Outcomes[at].GetResolved() != "" {
			reply.Document.GetMap().Members = append(reply.Document.GetMap().Members,
				&sessionpb.Member{Key: document.Bare, Value: document.Text("provisionally " + plan.Outcomes[at].GetResolved())})
			reply.Text = document.Render(reply.Document)
		}
	}
	if plan.Incomplete != nil {
		for _, d := range plan.Incomplete.Found {
			reply.Document.GetMap().Members = append(reply.Document.GetMap().Members,
				&sessionpb.Member{Key: "incomplete", Value: document.Text(d.Message)})
		}
		reply.Text = document.Render(reply.Document)
	}
	reply.Transaction = &sessionpb.TransactionStatus{
		State: sessionpb.TransactionStatus_OPEN, Domain: x.domain, Pending: uint32(len(x.statements)), Id: x.id.String(),
		Preview: q.service.preview(x.id, x.domain, uint32(len(x.statements))), Complete: plan.Incomplete == nil,
	}
	reply, stale, err := x.propose(ctx, x.proposal(), reply, catalogpb.Phase_FINISHED)
	if stale || err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED || x.begin == nil {
		return reply, stale, err
	}
	return reply, false, q.service.bind(ctx, q.tenure, q.session, x.id)
}

// finish ends the transaction with REVERT.
func (x *script) finish(ctx context.Context, steps []*catalogpb.Step, text string) (*sessionpb.ExecuteReply, error) {
	answer := completed(x.end, line("%s", text))
	answer.Transaction = &sessionpb.TransactionStatus{}
	reply, stale, err := x.propose(ctx, steps, answer, catalogpb.Phase_FINISHED)
	if stale {
		reply = x.q.fail(codeTxState, x.end, "transaction %s is not open any more", x.id)
	}
	if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		return reply, err
	}
	return reply, x.q.service.unbind(ctx, x.q.session)
}

// propose commits the steps under the request's reference.
func (x *script) propose(ctx context.Context, steps []*catalogpb.Step, reply *sessionpb.ExecuteReply, to catalogpb.Phase) (*sessionpb.ExecuteReply, bool, error) {
	retained, err := encodeReply(reply)
	if err != nil {
		return nil, false, err
	}
	q := x.q
	c := &command{service: q.service, reference: q.reference, binding: q.binding()}
	record := c.execution(catalogpb.Phase_ABSENT, to)
	record.Reply = retained
	result, err := q.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps, Execution: record})
	switch {
	case err != nil:
		answer, err := c.unproposed(ctx, catalogpb.Phase_ABSENT, err)
		if err == errNoAnswer {
			return q.service.unknown(q.tenure.tasks.Context()), false, nil
		}
		return answer, false, err
	case result.Known != nil:
		return q.binding().recovered(result.Known), false, nil
	case result.Refused == nil:
		return reply, false, nil
	case result.Refused.Stale:
		return nil, true, nil
	case result.Refused.Code == catalog.ReferenceExpired:
		return expired(), false, nil
	}
	leaseConflict.HitIf(result.Refused.Code == catalog.Conflict)
	return refused(result.Refused), false, nil
}

// commit plans the whole transaction, stores the plan and carries it out.
func (x *script) commit(ctx context.Context, plan *transaction.Plan) (reply *sessionpb.ExecuteReply, again bool, err error) {
	if plan.Incomplete != nil {
		return x.faulty(plan.Incomplete), false, nil
	}
	if reply := x.fenced(); reply != nil {
		return reply, false, nil
	}
	steps, again, failed, err := x.stored(ctx, plan)
	if again || failed != nil || err != nil {
		return failed, again, err
	}
	to := catalogpb.Phase_ADMITTED
	answer := x.preface()
	if len(plan.Steps) == 0 {
		to = catalogpb.Phase_FINISHED
		answer = x.preface(document.Text("transaction committed: nothing was queued"))
		if len(plan.Outcomes) > 0 {
			answer = x.preface(document.Text("transaction committed: nothing changed"))
		}
	}
	answer.Transaction = &sessionpb.TransactionStatus{}
	reply, stale, err := x.propose(ctx, steps, answer, to)
	if stale || err != nil {
		return nil, stale, err
	}
	if reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		return reply, false, x.discard(ctx)
	}
	if err := x.q.service.unbind(ctx, x.q.session); err != nil {
		return nil, false, err
	}
	if len(plan.Steps) > 0 {
		reply, err = x.q.admit(ctx, true, (&committing{service: x.q.service, id: x.id}).run)
	}
	return reply, false, err
}

// discard takes back a transaction that this request began in a command of its
// own and could not commit.
func (x *script) discard(ctx context.Context) error {
	if !x.proposed || x.begin == nil {
		return nil
	}
	_, _, err := x.stage(ctx, x.step(&ast.Revert{}))
	return err
}

// fenced refuses a COMMIT that was decided on another preview. One in the request
// that appended is not fenced by an older one.
func (x *script) fenced() *sessionpb.ExecuteReply {
	expected := x.q.preview
	if expected == nil || len(x.appends) > 0 {
		return nil
	}
	current := x.q.service.preview(x.id, x.domain, uint32(len(x.statements)))
	if expected.GetTransaction() == current.GetTransaction() && expected.GetPosition() == current.GetPosition() &&
		slices.Equal(expected.GetBasis(), current.GetBasis()) {
		return nil
	}
	previewStale.Hit()
	reply := x.q.fail(codeTxStale, x.end, "the preview that COMMIT names is stale: expected %s, current %s", previewText(expected), previewText(current))
	reply.Disposition = sessionpb.Disposition_PREVIEW_STALE
	reply.StalePreview = &sessionpb.StalePreview{Expected: expected, Current: current}
	return reply
}

// preview identifies what a transaction would do as things stand.
func (s *Service) preview(id primitives.UUID, domain string, position uint32) *sessionpb.PreviewId {
	basis := transaction.Basis(s.view(s.deps.Group.State()), domain)
	return &sessionpb.PreviewId{Transaction: id.String(), Position: position, Basis: basis[:]}
}

func previewText(p *sessionpb.PreviewId) string {
	return fmt.Sprintf("(%s, position %d, basis %x)", p.GetTransaction(), p.GetPosition(), p.GetBasis()[:min(8, len(p.GetBasis()))])
}

// partBytes is how much of a plan one command carries, with room for the
// statements beside it.
const partBytes = 1 << 19

// stored returns the steps that commit the transaction. A plan that is too long
// for one command is staged in parts before it; then the transaction itself has to
// be there before, too.
func (x *script) stored(ctx context.Context, plan *transaction.Plan) (steps []*catalogpb.Step, again bool, failed *sessionpb.ExecuteReply, err error) {
	content, err := plan.Encode()
	if err != nil {
		return nil, false, nil, err
	}
	parts := slices.Collect(slices.Chunk(content, partBytes))
	if len(parts) == 0 {
		parts = [][]byte{{}}
	}
	commit := &catalogpb.CommitTransaction{
		Id: x.id[:], Owner: x.q.owner, Position: uint32(len(x.statements)), Reference: x.q.reference[:],
		Parts: uint32(len(parts) - 1), Content: parts[len(parts)-1], Steps: uint32(len(plan.Steps)), Captured: plan.Captured.Record(),
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_CommitTransaction{CommitTransaction: commit}}
	if len(parts) == 1 {
		return x.proposal(step), false, nil, nil
	}
	if !x.proposed && (len(x.appends) > 0 || x.begin != nil) {
		if again, failed, err := x.stage(ctx, x.proposal()...); again || failed != nil || err != nil {
			return nil, again, failed, err
		}
		x.proposed = true
	}
	for i, part := range parts[:len(parts)-1] {
		staged := &catalogpb.Step{Body: &catalogpb.Step_StageTransaction{StageTransaction: &catalogpb.StageTransaction{Id: x.id[:], Part: uint32(i), Content: part}}}
		if again, failed, err := x.stage(ctx, staged); again || failed != nil || err != nil {
			return nil, again, failed, err
		}
	}
	return []*catalogpb.Step{step}, false, nil, nil
}

// stage proposes steps that have no outcome of their own.
func (x *script) stage(ctx context.Context, steps ...*catalogpb.Step) (again bool, failed *sessionpb.ExecuteReply, err error) {
	result, err := x.q.service.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps})
	switch {
	case err != nil:
		c := &command{service: x.q.service}
		answer, err := c.unproposed(ctx, catalogpb.Phase_ABSENT, err)
		if err == errNoAnswer {
			return false, x.q.service.unknown(x.q.tenure.tasks.Context()), nil
		}
		return false, answer, err
	case result.Refused == nil:
		return false, nil, nil
	case result.Refused.Stale:
		return true, nil, nil
	}
	return false, refused(result.Refused), nil
}
