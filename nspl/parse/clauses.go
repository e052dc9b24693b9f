package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// binding ::= name resource_version
func (p *parser) binding(b *ast.Binding) {
	b.Resource = p.ref(toResource)
	b.Version = p.resourceVersion(b.Resource)
}

// resourceVersion ::= VERSION (uint | LATEST)
func (p *parser) resourceVersion(of ast.Name) ast.ResourceVersion {
	first := p.at
	p.expect("VERSION")
	v := ast.ResourceVersion{Latest: p.accept("LATEST")}
	if !v.Latest {
		v.Number = p.version(of)
	}
	v.Span = p.since(first)
	return v
}

// version takes the number of a version of a resource.
func (p *parser) version(of ast.Name) ast.Uint {
	if p.kind() != tokenNumber {
		p.expecting(p.at, Expectation{Text: "whole number", Class: ClassVersion, Of: of.Text})
	}
	return p.uint()
}

// config ::= CONFIG '{' string '=' value, ... '}'
func (p *parser) config(entries *[]ast.ConfigEntry) {
	p.expect("CONFIG")
	p.expectMark('{')
	p.secret = true
	for more := !p.acceptMark('}'); more; more = p.anotherOf('}') {
		*entries = append(*entries, p.configEntry())
	}
	p.secret = false
}

// branchUse ::= BRANCHED BY name | UNBRANCHED
func (p *parser) branchUse(b *ast.BranchUse) {
	first := p.at
	if p.one("BRANCHED BY", "UNBRANCHED") == 0 {
		by := p.ref(toBranch)
		b.By = &by
	}
	b.Span = p.since(first)
}

// branchMake ::= BRANCHED BY name (SET assignments)? | UNBRANCHED
func (p *parser) branchMake(b *ast.BranchMake) {
	p.branchUse(&b.BranchUse)
	if b.By != nil && p.accept("SET") {
		p.assignments(&b.Set, ClauseBranch)
	}
}

// assignments ::= target '=' expr, ...
func (p *parser) assignments(set *[]ast.Assign, clause Clause) {
	for more := true; more; more = p.another() {
		*set = append(*set, p.assign(clause))
	}
}

func (p *parser) assign(clause Clause) ast.Assign {
	first := p.at
	var a ast.Assign
	p.clause = clause
	a.Target = p.target()
	if text := a.Target.Text; text == "output" || text == "branch" {
		p.possible(ClassMark, ".")
	}
	if p.kind() == '.' {
		switch a.Target.Text {
		case "output":
			a.Scope = ast.ScopeOutput
		case "branch":
			a.Scope = ast.ScopeBranch
		default:
			p.refuseWith(ast.Errorf(ast.CodeScope, a.Target.Span, "'%s' is no scope that can be set", a.Target.Text).
				WithHint("a bare name is a field of the record that is built; output.x is the same, branch.x a field of its branch"))
		}
		p.at++
		a.Target = p.field()
	}
	p.expectMark('=')
	a.Value = p.exprIn(clause)
	a.Span = p.since(first)
	return a
}

// where ::= (WHERE expr)?
func (p *parser) where(clause Clause) ast.Expr {
	if p.accept("WHERE") {
		return p.exprIn(clause)
	}
	return nil
}

// construction ::= inherit? (SET assignments)? where
func (p *parser) construction(c *ast.Construction) {
	if p.accept("INHERIT") {
		c.Inherit = p.inherit(p.at - 1)
	}
	if p.accept("SET") {
		p.assignments(&c.Set, ClauseSet)
	}
	c.Where = p.where(ClauseWhere)
}

// inherit takes what follows INHERIT.
func (p *parser) inherit(first int) *ast.Inherit {
	in := &ast.Inherit{}
	p.clause = ClauseInherit
	if p.accept("ALL") {
		in.All = true
		if p.accept("EXCEPT") {
			for more := true; more; more = p.another() {
				in.Except = append(in.Except, p.target())
			}
		}
	} else {
		for more := true; more; more = p.another() {
			in.Fields = append(in.Fields, ast.InheritField{Name: p.target(), Leak: p.accept("LEAK SENSITIVE")})
		}
	}
	p.clause = ClauseNone
	in.Span = p.since(first)
	return in
}

// inputs ::= FROM name where, ... collect?
func (p *parser) inputs(in *ast.Inputs) {
	p.expect("FROM")
	p.inputList(in)
}

// inputList takes what follows FROM.
func (p *parser) inputList(in *ast.Inputs) {
	for more := true; more; more = p.acceptMark(',') {
		in.From = append(in.From, ast.Input{})
		input := &in.From[len(in.From)-1]
		input.Relay = p.ref(toRelay)
		input.Where = p.where(ClauseInput)
	}
	if first := p.at; p.accept("COLLECT FOR") {
		in.Collect = p.collect(first)
	}
}

// collect takes what follows COLLECT FOR.
func (p *parser) collect(first int) *ast.Collect {
	c := &ast.Collect{For: p.duration()}
	if p.accept("MAX BATCH SIZE") {
		s := p.size()
		c.MaxBatchSize = &s
	}
	c.Span = p.since(first)
	return c
}

// filter ::= (FILTER WHERE expr)?
func (p *parser) filter() ast.Expr {
	if p.accept("FILTER WHERE") {
		return p.exprIn(ClauseFilter)
	}
	return nil
}

// flush ::= FLUSH EACH duration MAX BATCH SIZE bytes | FLUSH IMMEDIATE
func (p *parser) flush() ast.Flush {
	first := p.at
	if p.one("FLUSH EACH", "FLUSH IMMEDIATE") == 0 {
		return p.flushEach(first)
	}
	return ast.Flush{Immediate: true, Span: p.since(first)}
}

// flushEach takes what follows FLUSH EACH, which begins at a token.
func (p *parser) flushEach(first int) ast.Flush {
	f := ast.Flush{Each: p.duration()}
	p.expect("MAX BATCH SIZE")
	f.MaxBatch = p.size()
	f.Span = p.since(first)
	return f
}

// messageError ::= ON MESSAGE ERROR (IGNORE | LOG | SEND TO name SET assignments)
func (p *parser) messageError(e *ast.MessageError) {
	first := p.at
	p.expect("ON MESSAGE ERROR")
	e.Action = []ast.ErrorAction{ast.ErrorIgnore, ast.ErrorLog, ast.ErrorSendTo}[p.one("IGNORE", "LOG", "SEND TO")]
	if e.Action == ast.ErrorSendTo {
		e.To = p.ref(toRelay)
		p.expect("SET")
		p.assignments(&e.Set, ClauseError)
	}
	e.Span = p.since(first)
}

// generalError ::= ON GENERAL ERROR (IGNORE | LOG)
func (p *parser) generalError() ast.GeneralError {
	p.expect("ON GENERAL ERROR")
	return []ast.GeneralError{ast.GeneralIgnore, ast.GeneralLog}[p.one("IGNORE", "LOG")]
}

// routeForm says which clauses the routes of a kind have.
type routeForm struct {
	none    bool // the kind has no routes
	inherit bool // INHERIT may stand before SET
	set     bool // SET has to stand
	branch  bool // the route makes a branch
	flush   bool
}

// The forms of routes.
var (
	ingesting    = routeForm{inherit: true, branch: true, flush: true}
	transforming = routeForm{inherit: true, flush: true}
	setOnly      = routeForm{set: true, flush: true}
	aggregating  = routeForm{set: true}
	guest        = routeForm{}
	noRoutes     = routeForm{none: true}
)

// routes takes one route or more.
func (p *parser) routes(routes *[]ast.Route, form routeForm) {
	p.expect("TO")
	for more := true; more; more = p.accept("TO") {
		*routes = append(*routes, ast.Route{})
		p.route(&(*routes)[len(*routes)-1], form)
	}
}

// route takes what follows TO.
func (p *parser) route(r *ast.Route, form routeForm) {
	first := p.at - 1
	r.To = p.ref(toRelay)
	switch {
	case form.inherit:
		p.construction(&r.Construction)
	case form.set:
		p.expect("SET")
		p.assignments(&r.Construction.Set, ClauseSet)
		r.Construction.Where = p.where(ClauseWhere)
	default:
		if p.accept("SET") {
			p.assignments(&r.Construction.Set, ClauseSet)
		}
		r.Construction.Where = p.where(ClauseWhere)
	}
	if form.branch {
		r.Branch = &ast.BranchMake{}
		p.branchMake(r.Branch)
	}
	if form.flush {
		r.Flush = p.flush()
	}
	p.messageError(&r.OnError)
	r.Span = p.since(first)
}

// retry ::= RETRY POLICY BACKOFF duration MAX duration
func (p *parser) retry() ast.Retry {
	first := p.at
	p.expect("RETRY POLICY BACKOFF")
	r := ast.Retry{Backoff: p.duration()}
	p.expect("MAX")
	r.Max = p.duration()
	r.Span = p.since(first)
	return r
}

// ackWindow ::= SEQUENTIAL | PARALLEL MAX uint
func (p *parser) ackWindow() ast.Window {
	if p.one("SEQUENTIAL", "PARALLEL MAX") == 0 {
		return ast.Window{}
	}
	n := p.uint()
	return ast.Window{Max: &n}
}

// noAck takes NO_ACK in either spelling.
func (p *parser) noAck() bool {
	if p.is(p.at, "NO") && p.is(p.at+1, "ACK") {
		p.at += 2
		return true
	}
	return p.accept("NO_ACK")
}

// quiesce takes ON QUIESCE with one of the bodies an entity offers.
func (p *parser) quiesce(bodies []vocab.QuiesceBody) ast.Quiesce {
	first := p.at
	p.expect("ON QUIESCE")
	words := make([]string, len(bodies))
	for i, b := range bodies {
		words[i] = b.String()
	}
	q := ast.Quiesce{Body: bodies[p.one(words...)]}
	switch q.Body {
	case vocab.QuiesceBuffer:
		q.MaxSize = p.size()
		p.expect("ON OVERFLOW")
		q.DropOldest = p.one("DROP OLDEST", "DROP NEWEST") == 0
	case vocab.QuiesceEndpointBuffer:
		q.MaxSize = p.size()
	case vocab.QuiesceReject:
		q.RetryAfter = p.duration()
	}
	q.Span = p.since(first)
	return q
}
