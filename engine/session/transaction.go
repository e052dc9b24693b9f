package session

import (
	"context"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/primitives"
)

// transaction is a queue of statements that a session holds for one domain.
type transaction struct {
	id         string
	domain     string
	statements []queued
}

// queued is one statement with the text its spans point into.
type queued struct {
	statement ast.Statement
	entity    model.Entity // of a declaration
	text      string
}

// lower fills in the entity of a declaration.
func (e *queued) lower() ast.Diagnostics {
	d, ok := e.statement.(ast.Declaration)
	if !ok {
		return nil
	}
	var found ast.Diagnostics
	e.entity, found = model.Lower(d)
	return found
}

// status describes the transaction of a session; nil is none.
func (t *transaction) status() *sessionpb.TransactionStatus {
	if t == nil {
		return &sessionpb.TransactionStatus{}
	}
	return &sessionpb.TransactionStatus{
		State: sessionpb.TransactionStatus_OPEN, Domain: t.domain, Pending: uint32(len(t.statements)), Id: t.id,
	}
}

// control runs BEGIN, COMMIT and REVERT.
func (q *request) control(ctx context.Context, statement ast.Statement) (*sessionpb.ExecuteReply, error) {
	tx := q.session.tx
	if _, begin := statement.(*ast.Begin); begin {
		if tx != nil {
			return q.fail(codeTxState, statement, "a transaction on domain '%s' is open already", tx.domain), nil
		}
		if reply := q.needDomain(statement); reply != nil {
			return reply, nil
		}
		id := primitives.NewUUIDv7(q.service.world.Entropy(), q.service.world.Clock().Wall()).String()
		q.session.tx = &transaction{id: id, domain: q.domain}
		return completed(statement, line("transaction %s on domain '%s'", id, q.domain)), nil
	}
	if tx == nil {
		return q.fail(codeTxState, statement, "no transaction is open; run BEGIN"), nil
	}
	if _, revert := statement.(*ast.Revert); revert {
		q.session.tx = nil
		return completed(statement, line("transaction reverted: dropped %d command(s)", len(tx.statements))), nil
	}
	return q.commitTransaction(ctx, tx)
}

// queue takes one statement into the transaction, after replaying it on the
// prefix. What is still incomplete is found by COMMIT.
func (q *request) queue(statement ast.Statement, class ast.Class) *sessionpb.ExecuteReply {
	tx := q.session.tx
	switch {
	case !class.Queueable():
		return q.fail(codeNotQueueable, statement, "%s cannot stand in a transaction", head(statement))
	case q.domain != tx.domain:
		return q.fail(codeTxState, statement, "statement selects domain '%s' but the transaction is bound to '%s'", q.domain, tx.domain)
	case len(tx.statements) >= transactionMax:
		return q.fail(codeTxLimit, statement, "a transaction holds at most %d statements", transactionMax)
	}
	entry := queued{statement: statement, text: q.text}
	if found := entry.lower(); len(found) > 0 {
		return q.failed(found)
	}
	all := append(tx.statements[:len(tx.statements):len(tx.statements)], entry)
	b := builder{state: q.state(), domain: tx.domain}
	for i := range all {
		if fault := b.add(i, &all[i]); fault != nil {
			return q.failed(fault.found)
		}
	}
	tx.statements = all
	o := b.outcomes[len(b.outcomes)-1]
	o.Queued, o.Position = true, uint32(len(all))
	reply := completed(statement, line("queued %s at position %d", b.subject, len(all)))
	o.Text = reply.Text
	reply.Statements = []*sessionpb.StatementOutcome{o}
	return reply
}

// commitTransaction applies the queue as one command. A queue that is not
// complete stays open; everything else ends it.
func (q *request) commitTransaction(ctx context.Context, tx *transaction) (*sessionpb.ExecuteReply, error) {
	plan := q.planSteps(tx.statements)
	if _, failed := plan(q.state()); failed != nil {
		return failed, nil
	}
	if len(tx.statements) == 0 {
		q.session.tx = nil
		return completed(&ast.Commit{}, line("transaction committed: nothing was queued")), nil
	}
	reply, err := q.commit(ctx, plan)
	// A call that was not taken leaves the queue as it is.
	if err == nil || ctx.Err() != nil {
		q.session.tx = nil
	}
	return reply, err
}

// planSteps plans queued statements, each run of model mutations as one step.
func (q *request) planSteps(list []queued) planner {
	domain := q.domain
	return func(state *catalog.State) (*planned, *sessionpb.ExecuteReply) {
		b := builder{state: state, domain: domain}
		for i := range list {
			if fault := b.add(i, &list[i]); fault != nil {
				return nil, q.faulty(fault, list)
			}
		}
		if fault := b.close(); fault != nil {
			return nil, q.faulty(fault, list)
		}
		return &planned{steps: b.steps, outcomes: b.outcomes, domains: []string{domain}, level: b.level.String(), drains: b.drains}, nil
	}
}

// fault is why a queue cannot be applied.
type fault struct {
	found     ast.Diagnostics
	statement int // -1: none of the queue
}

// faulty reports a fault with the text it points into.
func (q *request) faulty(f *fault, list []queued) *sessionpb.ExecuteReply {
	text := q.text
	if f.statement >= 0 {
		text = list[f.statement].text
	}
	reply := failedIn(text, q.domain, f.found)
	if len(list) == 1 && text == q.text {
		return reply
	}
	for _, d := range reply.Diagnostics {
		d.HasSpan = d.HasSpan && text == q.text
		if f.statement >= 0 {
			d.Message = fmt.Sprintf("operation %d: %s", f.statement+1, d.Message)
		}
	}
	if f.statement >= 0 {
		reply.Text = fmt.Sprintf("operation %d:\n%s", f.statement+1, reply.Text)
	}
	return reply
}

// builder turns queued statements into steps, keeping the state that each step
// would leave.
type builder struct {
	state    *catalog.State
	domain   string
	open     *decide.Candidate // the run of model mutations in progress
	steps    []*catalogpb.Step
	outcomes []*sessionpb.StatementOutcome
	level    decide.Level
	drains   bool
	subject  string // what the last statement is about
}

func (b *builder) add(i int, e *queued) *fault {
	switch x := e.statement.(type) {
	case *ast.Start:
		b.subject = "start of domain '" + b.domain + "'"
		return b.lifecycle(i, x, setRunning(b.domain, true, x.AtNow), "started domain '%s'")
	case *ast.Stop:
		b.subject = "stop of domain '" + b.domain + "'"
		return b.lifecycle(i, x, setRunning(b.domain, false, false), "stopped domain '%s'")
	}
	if b.open == nil {
		c, missing := decide.NewCandidate(b.state, b.domain)
		if missing != nil {
			return &fault{ast.Diagnostics{missing}, -1}
		}
		b.open = c
	}
	if d := b.mutate(i, e); d != nil {
		return &fault{ast.Diagnostics{d}, i}
	}
	return nil
}

func (b *builder) mutate(i int, e *queued) *ast.Diagnostic {
	if drop, ok := e.statement.(*ast.Drop); ok {
		key := catalog.Key{Kind: drop.Kind, Name: drop.Name.Text}
		b.subject = key.Kind.Words() + " '" + key.Name + "'"
		b.outcomes = append(b.outcomes, outcome(drop, false, "dropped %s", b.subject)...)
		return b.open.Drop(key, drop.Span)
	}
	key := catalog.Key{Kind: e.entity.Kind(), Name: e.entity.EntityName()}
	b.subject = key.Kind.Words() + " '" + key.Name + "'"
	if e.statement.(ast.Declaration).Declared().IfNotExists && b.open.Exists(key) {
		b.outcomes = append(b.outcomes, outcome(e.statement, true, "%s already exists", b.subject)...)
		return nil
	}
	b.outcomes = append(b.outcomes, outcome(e.statement, false, "created %s", b.subject)...)
	return b.open.Create(e.entity, e.statement.(ast.Declaration).Declared().Name.Span, i)
}

func (b *builder) lifecycle(i int, x ast.Statement, step *catalogpb.Step, done string) *fault {
	if f := b.close(); f != nil {
		return f
	}
	if r := b.apply(step); r != nil {
		return &fault{ast.Diagnostics{ast.Errorf(ast.Code(r.Code), x.Place(), "%s", r.Message)}, i}
	}
	b.outcomes = append(b.outcomes, outcome(x, false, done, b.domain)...)
	return nil
}

// close ends the open run: it must be a valid graph by now.
func (b *builder) close() *fault {
	if b.open == nil || b.open.Empty() {
		b.open = nil
		return nil
	}
	if invalid := b.open.Validate(); invalid != nil {
		return &fault{invalid.Found, invalid.Statement}
	}
	b.level = max(b.level, b.open.Level(b.state))
	b.drains = b.drains || b.open.Drains(b.state)
	step := b.open.Step()
	b.open = nil
	if r := b.apply(step); r != nil {
		return &fault{ast.Diagnostics{{Code: ast.Code(r.Code), Message: r.Message}}, -1}
	}
	return nil
}

func (b *builder) apply(step *catalogpb.Step) *catalog.Refusal {
	next, result, _ := b.state.Apply(b.state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	if result.Refused != nil {
		return result.Refused
	}
	b.state = next
	b.steps = append(b.steps, step)
	return nil
}
