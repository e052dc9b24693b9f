package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Body is the checked code of an NSPL_1 function. Its columns are of ScopeLocal:
// the parameters in order, then what the steps that are no rejections bind.
type Body struct {
	Steps  []BodyStep
	Return *Expr
	Tests  []Test
}

// BodyStep binds Value to Name, or with Reject rejects the row where it is TRUE.
type BodyStep struct {
	Reject  bool
	Name    string
	Value   *Expr
	Message string // of a rejection: the name of the function unless it was written
}

// Test is a named list of cases.
type Test struct {
	Name  string
	Cases []Case
}

// Case calls the function with constants. It Fails, with Kind if that is not
// empty, or Returns.
type Case struct {
	Args    []Constant
	Returns Constant
	Fails   bool
	Kind    string
	Span    vocab.Span
}

// Constant is a scalar, a null or a list of scalars.
type Constant struct {
	Type  vocab.Type
	Null  bool
	Value Literal
	Items []Literal
}

// locals are the names of a function's body.
type locals struct {
	function *Function
	names    []string
	values   []*Expr // nil where the binding is faulty
}

func (l *locals) resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	for i, name := range l.names {
		if name != f.Name.Text {
			continue
		}
		if l.values[i] == nil {
			return nil, nil // reported where it was bound
		}
		e := *l.values[i]
		return &e, nil
	}
	d := ast.Errorf(ast.CodeUnknownField, f.Span, "UDF '%s' has no argument or LET '%s'", l.function.Name, f.Name.Text)
	d.Hint = c.near(f.Name.Text, l.names)
	return nil, d
}

// bind adds a name that is read as a column from then on.
func (l *locals) bind(name string, t *Expr) {
	if t != nil {
		t = &Expr{Op: OpColumn, Type: t.Type, Optional: t.Optional, Column: Column{Scope: ScopeLocal, Index: len(l.names), Name: name}}
	}
	l.names, l.values = append(l.names, name), append(l.values, t)
}

// CheckFunction checks the body of an NSPL_1 function against its declaration. It
// reads its arguments and earlier LETs bare, and nothing else; it calls no lookup,
// header or aggregate, and nothing that changes unless it is VOLATILE. The
// surroundings give Place, Span and UDF.
func CheckFunction(f *Function, b *ast.UDFBody, env Env) (*Body, ast.Diagnostics) {
	l := &locals{function: f}
	for _, p := range f.Params {
		l.bind(p.Name, &Expr{Type: p.Type, Optional: p.Optional})
	}
	c := begin(Env{Place: env.Place, Span: env.Span, UDF: env.UDF}, reading{}.with(l.resolve, ast.ScopeBare))
	c.function = f
	body := &Body{}
	for _, s := range b.Steps {
		step := BodyStep{Reject: s.Reject, Name: s.Name.Text}
		if s.Reject {
			step.Message = f.Name
			if s.Message != nil {
				step.Message = s.Message.Text
			}
			c.env.Place = "REJECT WHEN"
			step.Value = c.predicate(s.Value)
			c.env.Place = env.Place
		} else {
			step.Value = c.expr(s.Value, nil)
			l.bind(s.Name.Text, step.Value)
		}
		body.Steps = append(body.Steps, step)
	}
	body.Return = c.returned(f, b.Return)
	body.Tests = c.tests(f, b.Tests)
	return body, c.found
}

// CheckTests checks the tests of a function that has no body here.
func CheckTests(f *Function, tests []ast.UDFTest, env Env) ([]Test, ast.Diagnostics) {
	c := begin(env, reading{})
	return c.tests(f, tests), c.found
}

func (c *checker) returned(f *Function, e ast.Expr) *Expr {
	t := c.expr(e, &f.Returns)
	switch {
	case t == nil:
		return nil
	case !t.Type.Equal(f.Returns):
		d := c.fault(ast.CodeTypeMismatch, t.Span, "UDF '%s' returns %s, the value is %s", f.Name, f.Returns, t.Type)
		if f.Returns.Kind.Scalar() && castable(t.Type.Kind, f.Returns.Kind) {
			d.WithHint("convert it: … AS %s", f.Returns)
		}
	case t.Optional && !f.Optional:
		c.fault(ast.CodeNullForRequired, t.Span, "UDF '%s' may return null but does not return OPTIONAL", f.Name).
			WithHint("coalesce(…, default) gives a value where there is none")
	}
	return t
}

func (c *checker) tests(f *Function, tests []ast.UDFTest) []Test {
	var list []Test
	for _, t := range tests {
		test := Test{Name: t.Name.Text}
		for _, k := range t.Cases {
			one := Case{Fails: k.Returns == nil, Span: k.Span}
			if k.Fails != nil {
				one.Kind = k.Fails.Text
			}
			for i, a := range k.Args {
				if i < len(f.Params) {
					one.Args = append(one.Args, c.given(a, f.Params[i].Type, "argument '"+f.Params[i].Name+"'"))
				}
			}
			if k.Returns != nil {
				one.Returns = c.given(k.Returns, f.Returns, "the result")
			}
			test.Cases = append(test.Cases, one)
		}
		list = append(list, test)
	}
	return list
}

// given reads a constant of a case.
func (c *checker) given(e ast.Expr, want vocab.Type, what string) Constant {
	k := Constant{Type: want}
	switch e := e.(type) {
	case *ast.NullLit:
		k.Null = true
	case *ast.List:
		if want.Elem == nil || want.Kind == vocab.Array && int(want.Size) != len(e.Items) {
			c.fault(ast.CodeTypeMismatch, e.Span, "%s is %s, not a list of %d", what, want, len(e.Items))
			return k
		}
		for _, item := range e.Items {
			k.Items = append(k.Items, c.element(item, *want.Elem, what))
		}
	default:
		k.Value = c.element(e, want, what)
	}
	return k
}

func (c *checker) element(e ast.Expr, want vocab.Type, what string) Literal {
	v, kind, why := constant(e)
	switch {
	case why != "":
		c.fault(ast.CodeInvalidLiteral, e.Place(), "%s of a case %s", what, why)
	case !vocab.Scalar(kind).Equal(want):
		d := c.fault(ast.CodeTypeMismatch, e.Place(), "%s is %s, not %s", what, want, kind)
		if want.Kind.Scalar() && castable(kind, want.Kind) {
			d.WithHint("cast it: … AS %s", want)
		}
	}
	return v
}
