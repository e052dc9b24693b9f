package typed

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// call checks a call. Want is the type that the whole value must have, where there
// is one.
func (c *checker) call(e *ast.Call, want *vocab.Type) *Expr {
	if e.UDF {
		return c.udfCall(e)
	}
	name := e.Name.Text
	if f := forms(aggregates, name); f != nil && (c.env.Aggregates || forms(builtins, name) == nil) {
		return c.aggregate(e, f)
	}
	f := forms(builtins, name)
	switch {
	case name == writeHeader:
		c.misplace(e, "it is a statement of INVOKE")
		return nil
	case f == nil:
		d := c.fault(ast.CodeUnknownFunction, e.Name.Span, "unknown function '%s' with %d argument(s)", name, len(e.Args))
		d.Hint = c.meant(name)
		return nil
	case name == "vec" && len(e.Args) == 0:
		return c.emptyVec(e, want)
	case (name == readHeader || name == readHeaders) && !c.env.Headers:
		c.misplace(e, "headers belong to ingestors whose source has them; assign them to a field there")
		return nil
	case name == lookupHashMap && c.env.HashMap == nil:
		c.misplace(e, "look the value up where it can be, and assign it to a field")
		return nil
	}
	args, ok := c.args(e.Args)
	if forms(aggregates, name) != nil && len(args) > 0 && args[0] != nil && args[0].Type.Elem == nil {
		return c.misplacedAggregate(e)
	}
	form := c.form(e, f, args, ok)
	if form == nil || !c.allowed(e, form.volatile, name+"()") {
		return nil
	}
	if name == lookupHashMap {
		return c.lookup(e, form, args)
	}
	t := combine(OpCall, form.result.of(args), args)
	t.Span, t.Func = e.Span, name
	form.adjust(t)
	return t
}

// misplace reports a function that the context does not have.
func (c *checker) misplace(e *ast.Call, hint string) {
	c.fault(c.misplaced, e.Name.Span, "%s is not available in %s", e.Name.Text, c.env.Place).WithHint("%s", hint)
}

// form finds the form of a function that a call means, and checks its arguments.
func (c *checker) form(e *ast.Call, forms []function, args []*Expr, sound bool) *function {
	var form *function
	for i := range forms {
		f := &forms[i]
		if !f.takes(len(e.Args)) {
			continue
		}
		if form == nil || len(args) > 0 && args[0] != nil && f.param(0).accepts(args[0].Type, vocab.Type{}) {
			form = f
		}
	}
	if form == nil {
		c.fault(ast.CodeArity, e.Span, "%s does not take %d argument(s)", forms[0].word(), len(e.Args)).WithHint("%s", signature(forms))
		return nil
	}
	if !sound || !c.accepts(form, forms, args) {
		return nil
	}
	if form.rule != nil && !form.rule(c, args) {
		return nil
	}
	return form
}

// accepts checks the types of the arguments.
func (c *checker) accepts(f *function, forms []function, args []*Expr) bool {
	ok := true
	for i, a := range args {
		p := f.param(i)
		switch {
		case i > 0 && !ok && p.dependent():
		case !p.accepts(a.Type, args[0].Type):
			c.fault(ast.CodeTypeMismatch, a.Span, "argument %d of %s cannot be %s", i+1, f.word(), a.Type).WithHint("%s", signature(forms))
			ok = false
		case p >= textLiteral && (a.Op != OpLiteral || a.Literal.Null):
			c.fault(ast.CodeInvalidLiteral, a.Span, "argument %d of %s must be a literal", i+1, f.word()).WithHint("%s", signature(forms))
			ok = false
		}
	}
	return ok
}

// dependent reports whether the parameter is described by the first argument.
func (p param) dependent() bool {
	return p == sameAs1 || p == likeList1 || p == sameList1 || p == element1
}

// allowed reports a call that changes more often than the context permits.
func (c *checker) allowed(e *ast.Call, v Volatility, what string) bool {
	switch {
	case c.function != nil && !c.function.Volatile && v > Immutable:
		c.fault(ast.CodeVolatile, e.Span, "UDF '%s' calls %s but is not declared VOLATILE", c.function.Name, what)
	case v > c.steady:
		d := c.fault(ast.CodeVolatile, e.Span, "%s is not available in %s", what, c.env.Place)
		if c.steady == Immutable {
			d.WithHint("a default is made of constants")
		} else {
			d.WithHint("a key or condition has the same value each time it is evaluated")
		}
	default:
		return true
	}
	return false
}

// emptyVec is vec(), which has the type of the field it is assigned to.
func (c *checker) emptyVec(e *ast.Call, want *vocab.Type) *Expr {
	if want == nil || want.Kind != vocab.Vec {
		c.fault(ast.CodeTypeMismatch, e.Span, "vec() has no element type here").
			WithHint("vec() stands as the whole value of a VEC field")
		return nil
	}
	return &Expr{Op: OpCall, Func: "vec", Type: *want, Span: e.Span}
}

// list checks [a, ...].
func (c *checker) list(e *ast.List) *Expr {
	if len(e.Items) == 0 {
		c.fault(ast.CodeTypeMismatch, e.Span, "an empty list has no element type").
			WithHint("vec() stands as the whole value of a VEC field")
		return nil
	}
	items, ok := c.args(e.Items)
	if !ok {
		return nil
	}
	for _, item := range items[1:] {
		if !item.Type.Equal(items[0].Type) {
			c.sameType("a list needs elements", items[0], item)
			return nil
		}
	}
	t := combine(OpList, arrayOfArgs.of(items), items)
	t.Span = e.Span
	return t
}

// lookup checks the names and the key of LOOKUP_HASH_MAP.
func (c *checker) lookup(e *ast.Call, form *function, args []*Expr) *Expr {
	name := strings.ToLower(args[0].Literal.Str)
	m, ok := c.env.HashMap(name)
	if !ok {
		c.fault(ast.CodeInvalidLiteral, args[0].Span, "there is no hash map '%s'", name)
		return nil
	}
	field := strings.ToLower(args[2].Literal.Str)
	at := m.Schema.Index(field)
	if at < 0 {
		d := c.unknownField("", m.Schema.Fields, ast.Name{Text: field})
		c.fault(ast.CodeUnknownField, args[2].Span, "hash map '%s' has no field '%s'", name, field).Hint = d.Hint
		return nil
	}
	if !args[1].Type.Equal(m.Key) {
		d := c.fault(ast.CodeTypeMismatch, args[1].Span, "the key of hash map '%s' is %s, not %s", name, m.Key, args[1].Type)
		if castable(args[1].Type.Kind, m.Key.Kind) {
			d.WithHint("convert it: … AS %s", m.Key)
		}
		return nil
	}
	t := combine(OpLookup, m.Schema.Fields[at].Type, args[1:2])
	t.Span, t.Lookup = e.Span, &Lookup{Map: name, Index: at, Field: field}
	form.adjust(t)
	t.Sensitive = t.Sensitive || m.Schema.Fields[at].Sensitive
	return t
}

// udfCall checks a call of a user-defined function.
func (c *checker) udfCall(e *ast.Call) *Expr {
	name := e.Name.Text
	args, ok := c.args(e.Args)
	var f *Function
	known := false
	if c.env.UDF != nil {
		f, known = c.env.UDF(name)
	}
	switch {
	case !known:
		c.fault(ast.CodeUnknownFunction, e.Name.Span, "unknown function 'udf::%s' with %d argument(s)", name, len(e.Args))
		return nil
	case len(e.Args) != len(f.Params):
		c.fault(ast.CodeArity, e.Span, "udf::%s does not take %d argument(s)", name, len(e.Args)).WithHint("%s", f.Signature())
		return nil
	case !ok:
		return nil
	}
	for i, a := range args {
		if !a.Type.Equal(f.Params[i].Type) {
			d := c.fault(ast.CodeTypeMismatch, a.Span, "argument %d of udf::%s is %s, not %s", i+1, name, f.Params[i].Type, a.Type)
			d.WithHint("%s", f.Signature())
			ok = false
		}
	}
	v := Immutable
	if f.Volatile {
		v = Volatile
	}
	if !ok || !c.allowed(e, v, "udf::"+name+"()") {
		return nil
	}
	t := combine(OpUDF, f.Returns, args)
	t.Span, t.Func, t.UDF, t.missing = e.Span, name, f, "UDF '"+name+"'"
	t.Volatility, t.Fallible, t.Optional = max(t.Volatility, v), true, f.Optional
	for i, a := range args {
		t.Optional = t.Optional || a.Optional && !f.Params[i].Optional
	}
	return t
}

// elsewhere says how other languages' functions are written here.
var elsewhere = [...]struct{ name, here string }{
	{"cast", "x AS TYPE converts, TRY_CAST(x AS TYPE) gives null where it cannot"},
	{"convert", "x AS TYPE converts, TRY_CAST(x AS TYPE) gives null where it cannot"},
	{"mean", "AVG(x) is the mean of a window"},
	{"isnull", "is_null(x) tells whether x is null"},
	{"ifnull", "coalesce(x, default) gives a value where there is none"},
	{"nvl", "coalesce(x, default) gives a value where there is none"},
	{"len", "length(x) counts characters, octet_length(x) bytes"},
	{"substring", "substr(x, start, length)"},
	{"ucase", "upper(x)"},
	{"lcase", "lower(x)"},
	{"instr", "strpos(x, part)"},
	{"date_format", "format_datetime('%Y-%m-%d', t) writes a time"},
	{"to_char", "format_datetime('%Y-%m-%d', t) writes a time"},
	{"strftime", "format_datetime('%Y-%m-%d', t) writes a time"},
	{"average", "AVG(x) is the mean of a window"},
	{"current_timestamp", "now() is the time"},
	{"current_date", "now() is the time, date_trunc('day', now()) its day"},
	{"extract", "date_part('hour', t) reads a part of a time"},
}

// writtenHere says how another language's function is written here.
func writtenHere(name string) string {
	for _, e := range elsewhere {
		if e.name == name {
			return e.here
		}
	}
	return ""
}

// meant proposes something for the name of a function that does not exist.
func (c *checker) meant(name string) string {
	if h := writtenHere(name); h != "" {
		return h
	}
	if c.env.UDF != nil {
		if f, ok := c.env.UDF(name); ok {
			return "a function of your own is called udf::" + f.Name
		}
	}
	return c.near(name, append(Functions(), Aggregates()...))
}
