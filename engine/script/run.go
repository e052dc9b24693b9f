package script

import (
	"slices"

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
		r.here(x)
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

// refused reports why a statement about the cluster is refused, and remembers it.
func (r *runner) refused(at ast.Statement, v verb, about ast.Entity, refusal *catalog.Refusal) {
	if refusal == nil {
		delete(r.failed, r.failedKey(about.Kind, about.Name))
		return
	}
	d := ast.Errorf(ast.Code(refusal.Code), at.Place(), "%s", refusal.Message)
	d.Entity = about
	if !r.follows(&world{}, d) {
		r.report(r.file, d)
	}
	r.mark(v, about.Kind, about.Name)
}

func (r *runner) createDomain(x *ast.CreateDomain) {
	name := x.Name.Text
	if r.real.HasDomain(name) && x.IfNotExists {
		return
	}
	e, found := model.Lower(x)
	for _, d := range found {
		r.report(r.file, d)
	}
	if found != nil {
		r.mark(declares, vocab.EntityDomain, name)
		return
	}
	r.refused(x, declares, ast.Entity{Kind: vocab.EntityDomain, Name: name}, r.apply(decide.CreateDomain(e.(*model.Domain))))
	delete(r.worlds, name) // now it is there
}

// user checks a statement about a user.
func (r *runner) user(password ast.Text, x ast.Statement, step *catalogpb.Step, ifNotExists bool) {
	if c := step.GetCreateUser(); c != nil {
		if _, known := r.real.State().User(c.GetName()); known && ifNotExists {
			return
		}
	}
	for _, d := range model.CheckPassword(password) {
		r.report(r.file, d)
	}
	v, name := verb(0), step.GetAlterUser().GetName()
	if c := step.GetCreateUser(); c != nil {
		v, name = declares, c.GetName()
	}
	r.refused(x, v, ast.Entity{Kind: vocab.EntityUser, Name: name}, r.apply(step))
}

// dropCluster drops a user or a domain; it reports whether the statement does.
func (r *runner) dropCluster(x *ast.Drop) bool {
	step := &catalogpb.Step{}
	switch x.Kind {
	case vocab.EntityUser:
		step.Body = &catalogpb.Step_DropUser{DropUser: &catalogpb.DropUser{Name: x.Name.Text}}
	case vocab.EntityDomain:
		step.Body = &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: x.Name.Text}}
	default:
		return false
	}
	r.refused(x, drops, ast.Entity{Kind: x.Kind, Name: x.Name.Text}, r.apply(step))
	return true
}

// exists reports an entity that a statement names and nobody declared.
func (r *runner) exists(x ast.Statement, kind vocab.EntityKind, name ast.Name) {
	w := r.here(x)
	key := catalog.Key{Kind: kind, Name: name.Text}
	if c, missing := w.Definitions(w.domain); missing != nil || kind == vocab.EntityResource || c.Exists(key) {
		return
	}
	if d := ast.Errorf(ast.CodeRefMissing, name.Span, "%s does not exist", key).WithTarget(kind, name.Text); !r.follows(w, d) {
		r.report(r.file, d)
	}
}

// subscription checks the relay and the predicate.
func (r *runner) subscription(x *ast.CreateSubscription) {
	w := r.here(x)
	c, missing := w.Definitions(w.domain)
	if missing != nil {
		return
	}
	_, found := c.Subscription(x)
	for _, d := range found {
		if !r.follows(w, d) {
			r.report(r.file, d)
		}
	}
}

// change carries out one statement about the selected domain.
func (r *runner) change(s ast.Statement, text string) {
	w := r.here(s)
	one, found := transaction.NewStatement(s, text)
	if len(found) > 0 {
		r.lost(w, &queued{one, r.file}, found)
		return
	}
	r.plan(w, []queued{{one, r.file}}, s.Place())
}

// plan carries statements out together. Those that fail are reported and left out.
func (r *runner) plan(w *world, list []queued, at vocab.Span) {
	if w.supposed { // nobody knows whether it runs
		list = slices.DeleteFunc(list, func(s queued) bool { return ast.ClassOf(s.Parsed) == ast.DomainLifecycle })
	}
	for len(list) > 0 {
		statements := make([]transaction.Statement, len(list))
		for i := range list {
			statements[i] = list[i].Statement
		}
		faults := w.Run(w.domain, statements)
		if len(faults) == 0 {
			for i := range list {
				r.carried(w, list[i].Parsed)
			}
			r.resources(list)
			return
		}
		left := make([]bool, len(list))
		for _, f := range faults {
			if f.Cause < 0 {
				for _, d := range f.Found {
					d.Span = at
					r.report(r.file, d)
				}
				return
			}
			r.lost(w, &list[f.Cause], f.Found)
			left[f.Cause] = true
		}
		var rest []queued
		for i := range list {
			if !left[i] {
				rest = append(rest, list[i])
			}
		}
		list = rest
	}
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
			r.fault(codeTxState, s.Place(), "a transaction on domain '%s' is open already", r.tx.world.domain)
			return
		}
		r.here(s)
		r.begin(s.Place())
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

// begin opens a transaction on the selected domain.
func (r *runner) begin(at vocab.Span) {
	w, ok := r.worlds[r.domain]
	if !ok {
		w = &world{Rehearsal: r.real, domain: r.domain}
	}
	r.tx = &open{begin: Place{r.file, at}, world: w}
}

// queue takes a statement into the transaction.
func (r *runner) queue(s ast.Statement, text string) {
	one, found := transaction.NewStatement(s, text)
	if len(found) > 0 {
		r.lost(r.tx.world, &queued{one, r.file}, found)
		return
	}
	r.tx.list = append(r.tx.list, queued{one, r.file})
}

// commit carries the transaction out.
func (r *runner) commit(at vocab.Span) {
	tx := r.tx
	r.tx = nil
	r.plan(tx.world, tx.list, at)
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
