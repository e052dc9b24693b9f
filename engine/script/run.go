package script

import (
	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/transaction"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// Codes of transaction control.
const (
	codeTxState      ast.Code = "tx.state"
	codeNotQueueable ast.Code = "tx.not_queueable"
	codeRefused      ast.Code = "session.refused"
)

// run carries one statement out.
func (r *runner) run(s ast.Statement, text string) {
	class := ast.ClassOf(s)
	switch {
	case class == ast.TxControl:
		r.control(s)
		return
	case r.tx != nil && class.Queueable():
		r.queue(s, text)
		return
	case r.tx != nil && !ast.BesideTransaction(s):
		r.beside(s, class)
		return
	}
	switch x := s.(type) {
	case *ast.Use:
		r.domain = x.Domain.Text
		r.selected(x)
	case *ast.CreateDomain:
		r.createDomain(x)
	case *ast.CreateUser:
		r.user(x.Password, x, &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: x.Name.Text, PasswordHash: "-"}}}, x.IfNotExists)
	case *ast.AlterUser:
		r.user(x.Password, x, &catalogpb.Step{Body: &catalogpb.Step_AlterUser{AlterUser: &catalogpb.AlterUser{Name: x.Name.Text, PasswordHash: "-"}}}, false)
	case *ast.NodeControl:
		r.unchecked(r.file, x.Node.Span, ast.Words(x)+": the nodes of the cluster")
	case *ast.Relocate:
		r.unchecked(r.file, x.Place(), ast.Words(x)+": the nodes of the cluster")
	case *ast.CreateSubscription:
		r.subscription(x)
	case *ast.ShowCreate:
		r.exists(x, x.Kind, x.Name)
	case *ast.Describe:
		if x.Kind != vocab.EntityDomain {
			r.exists(x, x.Kind, x.Name)
		}
	case *ast.Drop:
		if !r.dropCluster(x) {
			r.change(x, text)
		}
	default:
		if class.Queueable() {
			r.change(s, text)
		}
	}
}

// beside refuses what does not stand in a transaction.
func (r *runner) beside(s ast.Statement, class ast.Class) {
	switch {
	case class == ast.SessionLocal:
		r.fault(codeRefused, s.Place(), "%s is refused while a transaction is open", ast.Words(s))
	default:
		r.fault(codeNotQueueable, s.Place(), "%s cannot stand in a transaction", ast.Words(s))
	}
}

func (r *runner) refused(at ast.Statement, refusal *catalog.Refusal) {
	if refusal != nil {
		r.fault(ast.Code(refusal.Code), at.Place(), "%s", refusal.Message)
	}
}

func (r *runner) createDomain(x *ast.CreateDomain) {
	if _, known := r.state.Domain(x.Name.Text); known && x.IfNotExists {
		return
	}
	e, found := model.Lower(x)
	if found == nil {
		r.refused(x, r.apply(decide.CreateDomain(e.(*model.Domain))))
		return
	}
	r.failed[failedKey{key: catalog.Key{Kind: vocab.EntityDomain, Name: x.Name.Text}}] = true
	for _, d := range found {
		r.report(r.file, d)
	}
}

// user checks a statement about a user.
func (r *runner) user(password ast.Text, x ast.Statement, step *catalogpb.Step, ifNotExists bool) {
	if c := step.GetCreateUser(); c != nil {
		if _, known := r.state.User(c.GetName()); known && ifNotExists {
			return
		}
	}
	for _, d := range model.CheckPassword(password) {
		r.report(r.file, d)
	}
	r.refused(x, r.apply(step))
}

// dropCluster drops a user or a domain; it reports whether the statement does.
func (r *runner) dropCluster(x *ast.Drop) bool {
	switch x.Kind {
	case vocab.EntityUser:
		r.refused(x, r.apply(&catalogpb.Step{Body: &catalogpb.Step_DropUser{DropUser: &catalogpb.DropUser{Name: x.Name.Text}}}))
	case vocab.EntityDomain:
		r.refused(x, r.apply(&catalogpb.Step{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: x.Name.Text}}}))
	default:
		return false
	}
	return true
}

// exists reports an entity that a statement names and nobody declared.
func (r *runner) exists(x ast.Statement, kind vocab.EntityKind, name ast.Name) {
	if !r.selected(x) {
		return
	}
	key := catalog.Key{Kind: kind, Name: name.Text}
	if _, ok := r.state.Model(r.domain, key); !ok && !r.failed[failedKey{r.domain, key}] && kind != vocab.EntityResource {
		r.fault(ast.CodeRefMissing, name.Span, "%s does not exist", key)
	}
}

// subscription checks the relay and the predicate.
func (r *runner) subscription(x *ast.CreateSubscription) {
	if !r.selected(x) || r.failed[failedKey{r.domain, catalog.Key{Kind: vocab.EntityRelay, Name: x.Relay.Text}}] {
		return
	}
	c, missing := decide.NewCandidate(r.state, r.domain)
	if missing != nil {
		return
	}
	_, found := c.Subscription(x)
	for _, d := range found {
		r.report(r.file, d)
	}
}

// change carries out one statement about the selected domain.
func (r *runner) change(s ast.Statement, text string) {
	if !r.selected(s) {
		return
	}
	one, found := transaction.NewStatement(s, text)
	if len(found) > 0 {
		r.lost(r.domain, &queued{one, r.file}, found)
		return
	}
	r.plan(r.domain, []queued{{one, r.file}}, s.Place())
}

// plan plans statements together and applies what they come to. Those that fail are
// reported and left out.
func (r *runner) plan(domain string, list []queued, at vocab.Span) {
	for len(list) > 0 {
		statements := make([]transaction.Statement, len(list))
		for i := range list {
			statements[i] = list[i].Statement
		}
		plan, fault := transaction.Make(r.view(), domain, statements)
		if fault == nil {
			fault = plan.Incomplete
		}
		if fault == nil {
			for _, step := range plan.Steps {
				if refusal := r.apply(step.GetChanges()...); refusal != nil {
					r.fault(ast.Code(refusal.Code), at, "%s", refusal.Message)
					return
				}
			}
			r.resources(list)
			return
		}
		if fault.Operation < 0 {
			for _, d := range fault.Found {
				d.Span = at
				r.report(r.file, d)
			}
			return
		}
		r.lost(domain, &list[fault.Operation], fault.Found)
		list = append(list[:fault.Operation:fault.Operation], list[fault.Operation+1:]...)
	}
}

// lost reports a statement that cannot be carried out, unless it fails only for
// what failed before it, and remembers what it would have declared.
func (r *runner) lost(domain string, s *queued, found ast.Diagnostics) {
	if _, ok := s.Parsed.(ast.Declaration); ok {
		r.failed[failedKey{domain, declared(s.Parsed)}] = true
	}
	for _, d := range found {
		switch {
		case d.Code == ast.CodeUnavailable:
			r.unchecked(s.file, placed(d.Span, s.Parsed.Place()), d.Message)
		case d.Code == ast.CodeRefMissing && r.consequence(domain, s.Parsed):
		default:
			d.Span = placed(d.Span, s.Parsed.Place())
			r.report(s.file, d)
		}
	}
}

// placed returns a span, or another one where it is none.
func placed(span, other vocab.Span) vocab.Span {
	if span == (vocab.Span{}) {
		return other
	}
	return span
}

// declared returns what a statement declares, changes or drops.
func declared(s ast.Statement) catalog.Key {
	switch x := s.(type) {
	case ast.Declaration:
		return catalog.Key{Kind: x.Declares(), Name: x.Declared().Name.Text}
	case ast.Alteration:
		return catalog.Key{Kind: x.Alters(), Name: x.Altered().Name.Text}
	case *ast.Drop:
		return catalog.Key{Kind: x.Kind, Name: x.Name.Text}
	}
	return catalog.Key{}
}

// consequence reports whether a statement names something whose own declaration
// failed.
func (r *runner) consequence(domain string, s ast.Statement) bool {
	if d, ok := s.(ast.Declaration); ok {
		e, found := model.Lower(d)
		if found != nil || e == nil {
			return false
		}
		for _, ref := range e.Refs() {
			if r.failed[failedKey{domain, catalog.Key{Kind: ref.Kind, Name: ref.Name}}] {
				return true
			}
		}
		return false
	}
	return r.failed[failedKey{domain, declared(s)}]
}

// resources lists what of the declared entities only a cluster can check.
func (r *runner) resources(list []queued) {
	for i := range list {
		d, ok := list[i].Parsed.(ast.Declaration)
		if !ok {
			continue
		}
		if e, found := model.Lower(d); found == nil && e != nil {
			for _, ref := range e.Refs() {
				if ref.Kind == vocab.EntityResource {
					r.unchecked(list[i].file, ref.Span, "the content of resource '"+ref.Name+"'")
				}
			}
		}
	}
}

// control begins or ends a transaction.
func (r *runner) control(s ast.Statement) {
	switch s.(type) {
	case *ast.Begin:
		if r.tx != nil {
			r.fault(codeTxState, s.Place(), "a transaction on domain '%s' is open already", r.tx.domain)
			return
		}
		r.selected(s)
		r.tx = &open{begin: Place{r.file, s.Place()}, domain: r.domain}
	case *ast.Commit:
		if r.tx == nil {
			r.fault(codeTxState, s.Place(), "no transaction is open; run BEGIN")
			return
		}
		r.commit(s.Place())
	case *ast.Revert:
		if r.tx == nil {
			r.fault(codeTxState, s.Place(), "no transaction is open; run BEGIN")
		}
		r.tx = nil
	}
}

// queue takes a statement into the transaction.
func (r *runner) queue(s ast.Statement, text string) {
	one, found := transaction.NewStatement(s, text)
	if len(found) > 0 {
		r.lost(r.tx.domain, &queued{one, r.file}, found)
		return
	}
	r.tx.list = append(r.tx.list, queued{one, r.file})
}

// commit carries the transaction out.
func (r *runner) commit(at vocab.Span) {
	tx := r.tx
	r.tx = nil
	if _, ok := r.state.Domain(tx.domain); ok {
		r.plan(tx.domain, tx.list, at)
	}
}

// leftOpen reports a transaction that the script does not end. What it would do is
// checked all the same.
func (r *runner) leftOpen() {
	if r.tx == nil {
		return
	}
	begin := r.tx.begin
	r.file = begin.File
	r.report(begin.File, ast.Errorf(codeTxState, begin.Span, "no COMMIT follows this BEGIN: nothing of the transaction is applied"))
	r.commit(begin.Span)
}
