package typed

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// workingMessage is the record under construction: which output fields have been
// set. It resolves names while SET runs from left to right.
type workingMessage struct {
	input  *vocab.Schema // what a bare name means before the output is set
	output *vocab.Schema
	set    []bool
	// inherits says that INHERIT can stand: the input is a row, not what a processor
	// makes.
	inherits bool
	// scope is what the record is called in the result, ScopeBranch for a key.
	scope Scope
}

// at reads a field of the record.
func (w *workingMessage) at(i int) *Expr {
	if w.scope == ScopeBranch {
		return columnAt(ScopeBranch, i, w.output.Fields[i])
	}
	return columnAt(ScopeOutput, i, w.output.Fields[i])
}

// name is the scope that reads the record.
func (w *workingMessage) name() string {
	if w.scope == ScopeBranch {
		return ScopeBranch.String()
	}
	return ScopeOutput.String()
}

// outputField reads a field that must have been set.
func (w *workingMessage) outputField(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	i := w.output.Index(f.Name.Text)
	if i < 0 {
		return nil, c.unknownField(w.name(), w.output.Fields, f.Name)
	}
	if !w.set[i] {
		return nil, w.unset(f)
	}
	return w.at(i), nil
}

// unset reports a field that is read too early, and proposes the record that has it.
func (w *workingMessage) unset(f *ast.Field) *ast.Diagnostic {
	what := "output"
	if w.scope == ScopeBranch {
		what = "key"
	}
	d := ast.Errorf(ast.CodeUninitializedOutput, f.Span, "%s field '%s' is not set yet", what, f.Name.Text)
	switch {
	case w.input == nil || w.input.Index(f.Name.Text) < 0:
	case w.scope == ScopeBranch:
		d.WithHint("write message.%s", f.Name.Text)
	case w.inherits:
		d.WithHint("write input.%s", f.Name.Text)
	}
	return d
}

// message reads the output field once it is set, and before that the input field
// unless the output declares the name differently.
func (w *workingMessage) message(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	in, out := w.input.Index(f.Name.Text), w.output.Index(f.Name.Text)
	switch {
	case out >= 0 && w.set[out]:
		return w.at(out), nil
	case in < 0 && out < 0:
		return nil, c.unknownField("message", slices.Concat(w.input.Fields, w.output.Fields), f.Name)
	case in < 0:
		return nil, w.unset(f)
	case out >= 0 && !sameShape(w.input.Fields[in], w.output.Fields[out]):
		return nil, ast.Errorf(ast.CodeUninitializedOutput, f.Span,
			"'%s' is %s in the input and %s in the output, which is not set yet", f.Name.Text,
			shape(w.input.Fields[in]), shape(w.output.Fields[out])).WithHint("write input.%s", f.Name.Text)
	}
	return columnAt(ScopeInput, in, w.input.Fields[in]), nil
}

// generated reads the output field once it is set, and before that the generated
// field of the name.
func (w *workingMessage) generated(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	in, out := w.input.Index(f.Name.Text), w.output.Index(f.Name.Text)
	switch {
	case out >= 0 && w.set[out]:
		return w.at(out), nil
	case in >= 0:
		return columnAt(ScopeGenerated, in, w.input.Fields[in]), nil
	case out >= 0:
		return nil, w.unset(f)
	}
	return nil, c.unknownField("generated", slices.Concat(w.input.Fields, w.output.Fields), f.Name)
}

// sameShape reports whether a field can be copied into another as it is.
func sameShape(a, b vocab.Field) bool { return a.Type.Equal(b.Type) && a.Optional == b.Optional }

func shape(f vocab.Field) string {
	if f.Optional {
		return f.Type.String() + " OPTIONAL"
	}
	return f.Type.String()
}

// inherit copies fields of the input.
func (c *checker) inherit(in *ast.Inherit, w *workingMessage) []Step {
	if in == nil {
		return nil
	}
	if !in.All {
		return c.inheritFields(in.Fields, w)
	}
	except := map[string]bool{}
	for _, n := range in.Except {
		if w.input.Index(n.Text) < 0 {
			c.found = append(c.found, c.unknownField("input", w.input.Fields, n))
		}
		except[n.Text] = true
	}
	var steps []Step
	for i, field := range w.input.Fields {
		out := w.output.Index(field.Name)
		if out >= 0 && !except[field.Name] && sameShape(field, w.output.Fields[out]) {
			steps = append(steps, c.copyField(in.Span, in.Span, i, out, false, w))
		}
	}
	return steps
}

func (c *checker) inheritFields(fields []ast.InheritField, w *workingMessage) []Step {
	var steps []Step
	for _, f := range fields {
		name := f.Name
		in, out := w.input.Index(name.Text), w.output.Index(name.Text)
		switch {
		case in < 0:
			c.incompatible(name, "input has no field '%s'", w.input)
		case out < 0:
			c.incompatible(name, "output has no field '%s'", w.output)
		case !sameShape(w.input.Fields[in], w.output.Fields[out]):
			c.fault(ast.CodeSchemaIncompatible, name.Span, "INHERIT field '%s' is %s in the input and %s in the output", name.Text,
				shape(w.input.Fields[in]), shape(w.output.Fields[out])).WithHint("SET %s = … converts it", name.Text)
		default:
			steps = append(steps, c.copyField(name.Span, vocab.Span{}, in, out, f.Leak, w))
		}
	}
	return steps
}

func (c *checker) incompatible(name ast.Name, format string, s *vocab.Schema) {
	d := c.unknownField("", s.Fields, name)
	c.fault(ast.CodeSchemaIncompatible, name.Span, "INHERIT: "+format, name.Text).Hint = d.Hint
}

// copyField copies one field of the input. The span is that of the name, or of the
// clause where it names none.
func (c *checker) copyField(span, all vocab.Span, in, out int, leak bool, w *workingMessage) Step {
	e := columnAt(ScopeInput, in, w.input.Fields[in])
	e.Span = span
	e.Sensitive = e.Sensitive && !leak
	name := w.output.Fields[out].Name
	if d := c.checkLeak(e, w.output.Fields[out]); d != nil && span == all {
		d.WithHint("INHERIT ALL EXCEPT %s, and SET %s = leak_sensitive(input.%s) discloses it on purpose", name, name, name)
	} else if d != nil {
		d.WithHint("INHERIT %s LEAK SENSITIVE discloses it on purpose", name)
	}
	w.set[out] = true
	return Step{Target: out, Inherit: true, Expr: e}
}

// checkLeak refuses to store a sensitive value where it would be read as an
// ordinary one.
func (c *checker) checkLeak(e *Expr, target vocab.Field) *ast.Diagnostic {
	if !e.Sensitive || target.Sensitive && !c.env.External {
		return nil
	}
	return c.leak(e.Span, "field '"+target.Name+"'")
}

// assignments checks SET from left to right. A key takes bare names and branch.x,
// every other record bare names and, where it can be read by that name, output.x.
func (c *checker) assignments(set []ast.Assign, w *workingMessage) []Step {
	var steps []Step
	for _, a := range set {
		if a.Scope != ast.ScopeBare && (c.reading[a.Scope] == nil || (a.Scope == ast.ScopeBranch) != (w.scope == ScopeBranch)) {
			c.fault(ast.CodeScope, a.Target.Span, "scope '%s' cannot be set in %s", a.Scope, c.env.Place)
			continue
		}
		target := w.output.Index(a.Target.Text)
		if target < 0 {
			c.found = append(c.found, c.unknownField(w.name(), w.output.Fields, a.Target))
			continue
		}
		field := w.output.Fields[target]
		e := c.expr(a.Value, &field.Type)
		// What follows may read the field even if its value is faulty: one fault is
		// reported once.
		w.set[target] = true
		if e != nil && c.fits(e, field, w) {
			steps = append(steps, Step{Target: target, Expr: e})
		}
	}
	return steps
}

// fits checks a value against the field it is stored in.
func (c *checker) fits(e *Expr, field vocab.Field, w *workingMessage) bool {
	switch {
	case !e.Type.Equal(field.Type):
		d := c.fault(ast.CodeTypeMismatch, e.Span, "SET field '%s' is %s, the value is %s", field.Name, field.Type, e.Type)
		if field.Type.Kind.Scalar() && castable(e.Type.Kind, field.Type.Kind) {
			d.WithHint("convert it: … AS %s", field.Type)
		}
		return false
	case e.Optional && !field.Optional:
		c.fault(ast.CodeNullForRequired, e.Span, "SET field '%s' may be null but the field is required", field.Name).
			WithHint("coalesce(…, default) gives a value where there is none")
		return false
	}
	copied := e.Op == OpColumn && e.Column.Scope == ScopeInput && e.Column.Name == field.Name && e.Optional == field.Optional
	if d := c.checkLeak(e, field); d != nil && w.inherits && copied {
		d.WithHint("leak_sensitive(…), or INHERIT %s LEAK SENSITIVE, discloses it on purpose", field.Name)
	}
	return true
}

// finalize checks that every required field was set.
func (c *checker) finalize(w *workingMessage) {
	for i, f := range w.output.Fields {
		if f.Optional || w.set[i] {
			continue
		}
		c.fault(ast.CodeMissingSet, c.env.Span, "required output field '%s' is never set", f.Name).Hint = c.source(f, w)
	}
}

// source proposes what a required field can be set from, "" where nothing is
// called like it.
func (c *checker) source(f vocab.Field, w *workingMessage) string {
	if w.input == nil {
		return c.sourceBeside(f)
	}
	at := w.input.Index(f.Name)
	if at < 0 {
		return c.sourceBeside(f)
	}
	in := w.input.Fields[at]
	leaks := in.Sensitive && (!f.Sensitive || c.env.External)
	switch {
	case w.inherits && sameShape(in, f) && leaks:
		return "INHERIT " + f.Name + " LEAK SENSITIVE copies it and discloses it on purpose"
	case w.inherits && sameShape(in, f):
		return "INHERIT " + f.Name + " copies it"
	}
	value := f.Name
	switch {
	case w.inherits:
		value = "input." + f.Name
	case w.scope == ScopeBranch:
		value = "message." + f.Name
	}
	return proposal(f, in, value, leaks)
}

// sourceBeside proposes a field of the other rows that can be read: those of a
// window or of the sides of a correlator.
func (c *checker) sourceBeside(f vocab.Field) string {
	for _, row := range []struct {
		schema         *vocab.Schema
		before, behind string
	}{{c.row, "LAST(input.", ")"}, {c.env.Left, "left.", ""}, {c.env.Right, "right.", ""}} {
		if row.schema == nil {
			continue
		}
		if at := row.schema.Index(f.Name); at >= 0 {
			in := row.schema.Fields[at]
			return proposal(f, in, row.before+f.Name+row.behind, in.Sensitive && (!f.Sensitive || c.env.External))
		}
	}
	return ""
}

// proposal is the SET of a field from another: cast, with a default and disclosed
// as far as they differ.
func proposal(f, in vocab.Field, value string, leaks bool) string {
	if !in.Type.Equal(f.Type) {
		if !f.Type.Kind.Scalar() || !castable(in.Type.Kind, f.Type.Kind) {
			return ""
		}
		value += " AS " + f.Type.String()
	}
	if in.Optional {
		value = "coalesce(" + value + ", …)"
	}
	if leaks {
		value = "leak_sensitive(" + value + ")"
	}
	return "SET " + f.Name + " = " + value
}
