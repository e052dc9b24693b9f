package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/session/document"
	"plexus/engine/transaction"
	"plexus/engine/transaction/transactionpb"
	"plexus/nspl/ast"
	"plexus/primitives"
)

// instant writes a replicated time, - for none.
func instant(nanos int64) document.Value {
	if nanos == 0 {
		return document.None()
	}
	return document.Text(time.Unix(0, nanos).UTC().Format(time.RFC3339))
}

// showTransactions lists the transactions that are kept, oldest first.
func (q *request) showTransactions() document.Value {
	var items []document.Value
	for x := range q.state().Transactions() {
		step, steps := x.Current()
		m := new(document.Map).Set(document.Name, document.Text(x.ID.String())).Set("domain", document.Text(x.Domain)).
			Set("owner", document.Text(x.Owner)).Set("state", document.Text(x.State.String())).
			Set("statements", document.Uint(uint64(x.Operations))).Set("begun", instant(x.Begun))
		if x.State == catalog.Open {
			m.Set("expires", instant(x.Deadline))
		} else {
			m.Set("applied_steps", document.Int(step)).Set("steps", document.Int(steps)).Set("ended", instant(x.Ended))
		}
		items = append(items, m.Value())
	}
	return document.List(items...)
}

// describeTransaction reads the impact report of a transaction: from its plan once
// it is committed, else as it would be planned now. It changes nothing.
func (q *request) describeTransaction(ctx context.Context, x *ast.DescribeTransaction) (document.Value, ast.Diagnostics) {
	id, found := q.described(ctx, x)
	if len(found) > 0 {
		return nil, found
	}
	of, ok := q.state().Transaction(id)
	switch {
	case !ok:
		return nil, refuseAt(codeTxState, x, "transaction %s is unknown", id)
	case of.Owner != q.owner:
		return nil, refuseAt(codeUnauthorized, x, "transaction %s belongs to another user", id)
	}
	plan, found := q.report(of, x)
	if len(found) > 0 {
		return nil, found
	}
	r := &reportView{of: of, plan: plan}
	if of.State == catalog.Open {
		r.preview = hex.EncodeToString(q.service.preview(of.ID, of.Domain, of.Operations).GetBasis())
	}
	if x.Operation == nil {
		return r.whole(), nil
	}
	n, last := x.Operation.Value, uint64(len(plan.Report.GetOperations()))
	switch at := x.Operation.Span; {
	case last == 0:
		return nil, ast.Diagnostics{ast.Errorf(ast.CodeInvalid, at, "transaction %s has no operations", id)}
	case n == 0:
		return nil, ast.Diagnostics{ast.Errorf(ast.CodeInvalid, at, "OPERATION counts from 1; transaction %s has operations 1 to %d", id, last)}
	case n > last:
		return nil, ast.Diagnostics{ast.Errorf(ast.CodeInvalid, at, "transaction %s has operations 1 to %d, not %d", id, last, n)}
	}
	return r.operation(int(n)), nil
}

func refuseAt(code ast.Code, at ast.Statement, format string, args ...any) ast.Diagnostics {
	return ast.Diagnostics{ast.Errorf(code, at.Place(), format, args...)}
}

// described returns which transaction is meant.
func (q *request) described(ctx context.Context, x *ast.DescribeTransaction) (id primitives.UUID, found ast.Diagnostics) {
	if x.ID == nil {
		held, err := q.service.boundTo(ctx, q.session)
		if err != nil || held == (primitives.UUID{}) {
			return id, refuseAt(codeTxState, x, "the session is attached to no transaction; name one")
		}
		return held, nil
	}
	id, err := parseReference(x.ID.Text)
	if err != nil {
		return id, refuseAt(ast.CodeInvalid, x, "'%s' is no transaction id", x.ID.Text)
	}
	return id, nil
}

// report returns the plan of a transaction with its report.
func (q *request) report(of *catalog.Transaction, x *ast.DescribeTransaction) (*transaction.Plan, ast.Diagnostics) {
	switch {
	case of.State == catalog.Open:
		list, err := operations(q.state(), of.ID)
		if err != nil {
			return nil, refuseAt(codeTxState, x, "transaction %s has no readable report: %v", of.ID, err)
		}
		plan, fault := transaction.Make(q.service.view(q.state()), of.Domain, list)
		if fault != nil {
			// Another change of the domain has taken what a statement stood on.
			return nil, fault.Found.About(ast.Entity{})
		}
		return plan, nil
	case of.Parts == 0:
		return nil, refuseAt(codeTxState, x, "transaction %s is %s and has no report", of.ID, of.State)
	}
	plan, err := transaction.Decode(q.state().PlanOf(of.ID))
	if err != nil {
		return nil, refuseAt(codeTxState, x, "transaction %s has no readable report: %v", of.ID, err)
	}
	return plan, nil
}

// reportView writes a report with the progress of its transaction.
type reportView struct {
	of      *catalog.Transaction
	plan    *transaction.Plan
	preview string // basis, "" once it is committed
}

func (r *reportView) whole() document.Value {
	report := r.plan.Report
	m := new(document.Map).Set("transaction", document.Text(r.of.ID.String())).Set("domain", document.Text(r.of.Domain)).
		Set("owner", document.Text(r.of.Owner)).Set("state", document.Text(r.of.State.String())).
		Set("position", document.Uint(uint64(r.of.Operations))).Set("preview basis", document.TextOrNone(r.preview)).
		Set("completeness", document.Text(completeness(report.GetComplete()))).Set("required level", document.Text(report.GetLevel())).
		Set("actual level", document.TextOrNone(r.actual()))
	for _, f := range report.GetFindings() {
		m.Set("finding", document.Text(fmt.Sprintf("operation %d: %s: %s", f.GetOperation(), f.GetCode(), f.GetMessage())))
	}
	if r.of.Failure != nil {
		m.Set("failure", document.Text(r.of.Failure.Error()))
	}
	effects(m, report.GetEffects())
	var operations, steps []document.Value
	for i := range report.GetOperations() {
		operations = append(operations, r.line(i))
	}
	for i := range report.GetSteps() {
		steps = append(steps, r.step(i))
	}
	m.Set("operations", document.List(operations...))
	for i, s := range steps {
		m.Set(fmt.Sprintf("step %d", i+1), s)
	}
	return m.Value()
}

func completeness(complete bool) string {
	if complete {
		return "COMPLETE"
	}
	return "INCOMPLETE"
}

// actual is the highest level that was engaged, "" before any step had an effect. A
// request that nobody answered counts as engaged.
func (r *reportView) actual() (level string) {
	for _, s := range r.of.Steps {
		if s.Phase != catalog.Unattempted && s.Level != "" {
			level = transaction.Higher(level, s.Level)
		}
		for _, e := range s.Engagements {
			if e.Kind == catalog.Uncertain || e.Kind == catalog.Confirmed || e.Kind == catalog.Expanded {
				level = transaction.Higher(level, e.Level)
			}
		}
	}
	if level == "" && r.of.State == catalog.Failed {
		return "DYNAMIC"
	}
	return level
}

// line is one operation in the list.
func (r *reportView) line(i int) document.Value {
	o := r.plan.Report.GetOperations()[i]
	m := new(document.Map).Set(document.Name, document.Text(fmt.Sprint(o.GetPosition()))).
		Set("statement", document.Text(strings.ReplaceAll(o.GetStatement(), " ", "_"))).Set("reason", document.Text(o.GetReason().String()))
	if o.GetStep() > 0 {
		m.Set("step", document.Uint(uint64(o.GetStep())))
	}
	return m.Value()
}

func (r *reportView) operation(n int) document.Value {
	o := r.plan.Report.GetOperations()[n-1]
	m := new(document.Map).Set("transaction", document.Text(r.of.ID.String())).Set("operation", document.Uint(uint64(o.GetPosition()))).
		Set("statement", document.Text(o.GetStatement())).Set("subject", document.Text(o.GetSubject())).
		Set("reason", document.Text(o.GetReason().String())).Set("step", document.Uint(uint64(o.GetStep())))
	effects(m, o.GetEffects())
	if s := int(o.GetStep()); s > 0 {
		m.Set(fmt.Sprintf("step %d", s), r.step(s-1))
	}
	return m.Value()
}

func (r *reportView) step(i int) document.Value {
	s := r.plan.Report.GetSteps()[i]
	m := new(document.Map).Set("operations", document.Text(fmt.Sprintf("%d to %d", s.GetFirst(), s.GetLast()))).
		Set("completeness", document.Text(completeness(s.GetComplete())))
	pause := document.Text(s.GetPause().GetKind().String())
	m.Set("pause", pause)
	if list := s.GetPause().GetEntities(); len(list) > 0 {
		m.Set("paused", document.Text(keys(list)))
		m.Set("gates", document.TextOrNone(strings.Join(s.GetPause().GetGates(), ",")))
		m.Set("branches", document.Text("all"))
	}
	effects(m, s.GetEffects())
	r.progress(m, i)
	before, after := r.plan.Report.GetTopologies()[s.GetBefore()], r.plan.Report.GetTopologies()[s.GetAfter()]
	m.Set("edges before", document.Int(len(before.GetEdges()))).Set("edges after", document.Int(len(after.GetEdges())))
	edges(m, before, after)
	return m.Value()
}

// progress adds what became of a step.
func (r *reportView) progress(m *document.Map, i int) {
	outcome := catalog.Unattempted
	if i < len(r.of.Steps) {
		p := &r.of.Steps[i]
		outcome = p.Phase
		for _, e := range p.Engagements {
			text := e.Kind.String() + " " + e.Level
			if e.Detail != "" {
				text += ": " + e.Detail
			}
			m.Set("engagement", document.Text(text))
		}
		if p.Phase != catalog.Unattempted {
			m.Set("actual level", document.TextOrNone(p.Level)).Set("moved owners", document.Uint(uint64(p.Moved)))
		}
	}
	m.Set("outcome", document.Text(outcome.String()))
}

// edges adds the edges that a step adds and removes.
func edges(m *document.Map, before, after *transactionpb.Topology) {
	has := func(t *transactionpb.Topology) map[string]bool {
		set := map[string]bool{}
		for _, e := range t.GetEdges() {
			set[edgeText(e)] = true
		}
		return set
	}
	was, is := has(before), has(after)
	for _, e := range before.GetEdges() {
		if !is[edgeText(e)] {
			m.Set("removed edge", document.Text(edgeText(e)))
		}
	}
	for _, e := range after.GetEdges() {
		if !was[edgeText(e)] {
			m.Set("added edge", document.Text(edgeText(e)))
		}
	}
}

func edgeText(e *transactionpb.Edge) string {
	return fmt.Sprintf("%s %s -> %s", e.GetKind(), keyText(e.GetFrom()), keyText(e.GetTo()))
}

func keyText(k *catalogpb.Key) string { return operator(transaction.KeyOf(k)) }

func keys(list []*catalogpb.Key) string {
	words := make([]string, len(list))
	for i, k := range list {
		words[i] = keyText(k)
	}
	return strings.Join(words, ",")
}

// effects adds the sets that have members.
func effects(m *document.Map, e *transactionpb.Effects) {
	for _, set := range []struct {
		name string
		keys []*catalogpb.Key
	}{
		{"created", e.GetCreated()}, {"changed", e.GetChanged()}, {"dropped", e.GetDropped()}, {"rebound", e.GetRebound()},
		{"activated", e.GetActivated()}, {"deactivated", e.GetDeactivated()}, {"rebuilt", e.GetRebuilt()}, {"state resets", e.GetResets()},
		{"force-flushed", e.GetFlushed()}, {"listener refreshes", e.GetRefreshed()},
	} {
		if len(set.keys) > 0 {
			m.Set(set.name, document.Text(keys(set.keys)))
		}
	}
	for _, move := range e.GetMoved() {
		m.Set("moved owner", document.Text(fmt.Sprintf("%s from %s to %s", keyText(move.GetKey()), orDash(move.GetFrom()), orDash(move.GetTo()))))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
