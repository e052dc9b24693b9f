package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// branchUse ::= BRANCHED BY name | UNBRANCHED
func (p *parser) branchUse() ast.BranchUse {
	first := p.at
	var b ast.BranchUse
	if p.one("BRANCHED BY", "UNBRANCHED") == 0 {
		by := p.name()
		b.By = &by
	}
	b.Span = p.since(first)
	return b
}

// branchMake ::= BRANCHED BY name (SET assignments)? | UNBRANCHED
func (p *parser) branchMake() *ast.BranchMake {
	b := &ast.BranchMake{BranchUse: p.branchUse()}
	if b.By != nil && p.accept("SET") {
		b.Set = p.assignments()
	}
	return b
}

// assignments ::= target '=' expr, ...
func (p *parser) assignments() []ast.Assign { return list(p, p.assign) }

func (p *parser) assign() ast.Assign {
	first := p.at
	var a ast.Assign
	a.Target = p.target()
	if p.kind() == '.' {
		switch a.Target.Text {
		case "output":
			a.Scope = ast.ScopeOutput
		case "branch":
			a.Scope = ast.ScopeBranch
		default:
			p.refuse(ast.CodeScope, a.Target.Span, "'%s' is no scope that can be set", a.Target.Text)
		}
		p.at++
		a.Target = p.name()
	}
	p.expectMark('=')
	a.Value = p.expr()
	a.Span = p.since(first)
	return a
}

// where ::= (WHERE expr)?
func (p *parser) where() ast.Expr {
	if p.accept("WHERE") {
		return p.expr()
	}
	return nil
}

// construction ::= inherit? (SET assignments)? where
func (p *parser) construction() ast.Construction {
	var c ast.Construction
	if p.accept("INHERIT") {
		c.Inherit = p.inherit(p.at - 1)
	}
	if p.accept("SET") {
		c.Set = p.assignments()
	}
	c.Where = p.where()
	return c
}

// inherit takes what follows INHERIT.
func (p *parser) inherit(first int) *ast.Inherit {
	in := &ast.Inherit{}
	if p.accept("ALL") {
		in.All = true
		if p.accept("EXCEPT") {
			in.Except = list(p, p.target)
		}
	} else {
		in.Fields = list(p, func() ast.InheritField {
			return ast.InheritField{Name: p.target(), Leak: p.accept("LEAK SENSITIVE")}
		})
	}
	in.Span = p.since(first)
	return in
}

// inputs ::= FROM name where, ... collect?
func (p *parser) inputs() ast.Inputs {
	p.expect("FROM")
	in := ast.Inputs{From: list(p, func() ast.Input {
		return ast.Input{Relay: p.name(), Where: p.where()}
	})}
	if first := p.at; p.accept("COLLECT FOR") {
		c := &ast.Collect{For: p.duration()}
		if p.accept("MAX BATCH SIZE") {
			s := p.size()
			c.MaxBatchSize = &s
		}
		c.Span = p.since(first)
		in.Collect = c
	}
	return in
}

// filter ::= (FILTER WHERE expr)?
func (p *parser) filter() ast.Expr {
	if p.accept("FILTER WHERE") {
		return p.expr()
	}
	return nil
}

// flush ::= FLUSH EACH duration MAX BATCH SIZE bytes | FLUSH IMMEDIATE
func (p *parser) flush() ast.Flush {
	first := p.at
	f := ast.Flush{Immediate: p.one("FLUSH EACH", "FLUSH IMMEDIATE") == 1}
	if !f.Immediate {
		f.Each = p.duration()
		p.expect("MAX BATCH SIZE")
		f.MaxBatch = p.size()
	}
	f.Span = p.since(first)
	return f
}

// messageError ::= ON MESSAGE ERROR (IGNORE | LOG | SEND TO name SET assignments)
func (p *parser) messageError() ast.MessageError {
	first := p.at
	p.expect("ON MESSAGE ERROR")
	e := ast.MessageError{Action: []ast.ErrorAction{ast.ErrorIgnore, ast.ErrorLog, ast.ErrorSendTo}[p.one("IGNORE", "LOG", "SEND TO")]}
	if e.Action == ast.ErrorSendTo {
		e.To = p.name()
		p.expect("SET")
		e.Set = p.assignments()
	}
	e.Span = p.since(first)
	return e
}

// generalError ::= ON GENERAL ERROR (IGNORE | LOG)
func (p *parser) generalError() ast.GeneralError {
	p.expect("ON GENERAL ERROR")
	return []ast.GeneralError{ast.GeneralIgnore, ast.GeneralLog}[p.one("IGNORE", "LOG")]
}

// routes takes one route or more; branch says whether they can build a branch.
func (p *parser) routes(branch bool) []ast.Route {
	p.expect("TO")
	routes := []ast.Route{p.route(branch)}
	for p.accept("TO") {
		routes = append(routes, p.route(branch))
	}
	return routes
}

// route takes what follows TO.
func (p *parser) route(branch bool) ast.Route {
	first := p.at - 1
	r := ast.Route{To: p.name(), Construction: p.construction()}
	if branch {
		r.Branch = p.branchMake()
	}
	r.Flush = p.flush()
	r.OnError = p.messageError()
	r.Span = p.since(first)
	return r
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

// quiesceWords are what follows ON QUIESCE for each body, up to its first
// value.
var quiesceWords = [...]string{
	vocab.QuiesceSuspend:        "SUSPEND",
	vocab.QuiesceBuffer:         "BUFFER MAX SIZE",
	vocab.QuiesceDrop:           "DROP",
	vocab.QuiesceReject:         "REJECT RETRY AFTER",
	vocab.QuiesceEndpointBuffer: "BUFFER MAX SIZE",
}

// quiesce takes ON QUIESCE with one of the bodies an entity offers.
func (p *parser) quiesce(bodies []vocab.QuiesceBody) ast.Quiesce {
	first := p.at
	p.expect("ON QUIESCE")
	words := make([]string, len(bodies))
	for i, b := range bodies {
		words[i] = quiesceWords[b]
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
