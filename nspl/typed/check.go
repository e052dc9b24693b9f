package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// checker collects the faults of one clause. Its functions return nil for what
// they reported; a node over such an operand is not reported again.
type checker struct {
	env     Env
	reading reading
	found   ast.Diagnostics

	// aggregated is what the arguments of aggregates read; without it there
	// are no aggregates. inside says that such an argument is checked, and aggregates
	// that there was one.
	aggregated         *reading
	row                *vocab.Schema // that they read
	inside, aggregates bool
	// function is the user-defined function whose body is checked.
	function *Function
	// steady is the greatest volatility that calls may have.
	steady Volatility
	// misplaced is the code of calls that the context does not have.
	misplaced ast.Code
}

func (c *checker) fault(code ast.Code, span vocab.Span, format string, args ...any) *ast.Diagnostic {
	d := ast.Errorf(code, span, format, args...)
	c.found = append(c.found, d)
	return d
}

// leak reports a sensitive value that would be read as an ordinary one.
func (c *checker) leak(span vocab.Span, where string) *ast.Diagnostic {
	return c.fault(ast.CodeSensitiveLeak, span, "a sensitive value would reach %s", where).
		WithHint("leak_sensitive(…) discloses it on purpose")
}

// predicate checks a condition.
func (c *checker) predicate(e ast.Expr) *Expr {
	t := c.expr(e, nil)
	if t != nil && t.Type.Kind != vocab.Bool {
		c.fault(ast.CodeTypeMismatch, t.Span, "%s needs a BOOL, not %s", c.env.Place, t.Type)
		return nil
	}
	return t
}

// expr checks an expression. Want is the type NULL takes here, nil where NULL
// cannot stand.
func (c *checker) expr(e ast.Expr, want *vocab.Type) *Expr {
	switch e := e.(type) {
	case *ast.IntLit:
		return literal(e.Span, vocab.I64, Literal{Int: e.Value})
	case *ast.FloatLit:
		return literal(e.Span, vocab.F64, Literal{Float: e.Value})
	case *ast.StringLit:
		return literal(e.Span, vocab.String, Literal{Str: e.Value})
	case *ast.BoolLit:
		return literal(e.Span, vocab.Bool, Literal{Bool: e.Value})
	case *ast.NullLit:
		return c.null(e, want)
	case *ast.Field:
		return c.field(e)
	case *ast.Call:
		return c.call(e, want)
	case *ast.Unary:
		return c.unary(e)
	case *ast.Binary:
		return c.binary(e)
	case *ast.In:
		return c.in(e)
	case *ast.Between:
		return c.between(e)
	case *ast.Cast:
		return c.cast(e)
	case *ast.Conditional:
		return c.conditional(e, want)
	case *ast.List:
		return c.list(e)
	case *ast.JSON:
		return c.json(e)
	}
	return nil
}

// args checks all of a list and reports whether all are sound.
func (c *checker) args(list []ast.Expr) (args []*Expr, ok bool) {
	args, ok = make([]*Expr, len(list)), true
	for i, e := range list {
		args[i] = c.expr(e, nil)
		ok = ok && args[i] != nil
	}
	return args, ok
}

func literal(span vocab.Span, kind vocab.Kind, value Literal) *Expr {
	return &Expr{Op: OpLiteral, Type: vocab.Scalar(kind), Span: span, Literal: value}
}

func typedNull(span vocab.Span, t vocab.Type) *Expr {
	return &Expr{Op: OpLiteral, Type: t, Optional: true, Span: span, Literal: Literal{Null: true}}
}

func (c *checker) null(e *ast.NullLit, want *vocab.Type) *Expr {
	if want == nil {
		c.fault(ast.CodeNullLiteral, e.Span, "NULL has no type here").
			WithHint("NULL stands as the whole value of an optional field or as a result of CASE; is_null(x) asks for it")
		return nil
	}
	return typedNull(e.Span, *want)
}

// combine makes a node with what it takes over from its operands.
func combine(op Op, t vocab.Type, args []*Expr) *Expr {
	e := &Expr{Op: op, Type: t, Args: args}
	for _, a := range args {
		e.Optional = e.Optional || a.Optional
		e.Sensitive = e.Sensitive || a.Sensitive
		e.Fallible = e.Fallible || a.Fallible
		e.Volatility = max(e.Volatility, a.Volatility)
	}
	return e
}

func (c *checker) field(e *ast.Field) *Expr {
	t, d := c.resolve(e)
	if d != nil {
		c.found = append(c.found, d)
	}
	if t == nil {
		return nil
	}
	t.Span = e.Span
	return t
}
