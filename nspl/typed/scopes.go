package typed

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// source resolves the fields of one scope.
type source func(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic)

// reading is what each scope means in one context: a row of the table of chapter
// 11 section 4. A scope without a source is not available there.
type reading [ast.ScopeRelayState + 1]source

// with returns the reading with one more scope or several that mean the same.
func (r reading) with(s source, scopes ...ast.Scope) reading {
	for _, scope := range scopes {
		r[scope] = s
	}
	return r
}

// scopes lists those that can be read, in the order of the language.
func (r reading) scopes() (list []string) {
	for scope, s := range r {
		if s != nil && ast.Scope(scope) != ast.ScopeBare {
			list = append(list, ast.Scope(scope).String())
		}
	}
	return list
}

// from reads the columns of a schema. Without one the scope is not available.
func from(scope Scope, s *vocab.Schema) source {
	if s == nil {
		return nil
	}
	return func(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) { return c.column(scope, s, f) }
}

// common are the scopes that mean the same wherever the surroundings have them.
func (e *Env) common() reading {
	r := reading{}.
		with(from(ScopeInput, e.Input), ast.ScopeInput).
		with(from(ScopeLeft, e.Left), ast.ScopeLeft).
		with(from(ScopeRight, e.Right), ast.ScopeRight).
		with(from(ScopeBranch, e.Branch), ast.ScopeBranch)
	if e.Metadata != nil {
		r = r.with(from(ScopeMetadata, &vocab.Schema{Fields: e.Metadata}), ast.ScopeMetadata)
	}
	if e.States != nil {
		r = r.with(stateField, ast.ScopeRelayState)
	}
	return r
}

// row is the reading of what looks at the input row, which bare names and message
// mean too.
func (e *Env) row() reading {
	return e.common().with(from(ScopeInput, e.Input), ast.ScopeBare, ast.ScopeMessage)
}

// finished is the reading of the WHERE of a route: bare names mean the finished
// output, and so does message where there is one.
func (e *Env) finished(output *vocab.Schema) reading {
	r := e.common().with(from(ScopeOutput, output), ast.ScopeBare, ast.ScopeOutput)
	if e.Input != nil {
		r = r.with(from(ScopeOutput, output), ast.ScopeMessage)
	}
	return r
}

// stateField reads the materialized state of a relay.
func stateField(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	names := make([]string, len(c.env.States))
	for i, s := range c.env.States {
		if s.Relay != f.Relay.Text {
			names[i] = s.Relay
			continue
		}
		at := s.Schema.Index(f.Name.Text)
		if at < 0 {
			return nil, c.unknownField("relay_state."+s.Relay, s.Schema.Fields, f.Name)
		}
		e := columnAt(ScopeState, at, s.Schema.Fields[at])
		e.Column.State = s.Relay
		return e, nil
	}
	d := ast.Errorf(ast.CodeScope, f.Relay.Span, "the state of relay '%s' is not available in %s", f.Relay.Text, c.env.Place)
	if d.Hint = c.near(f.Relay.Text, names); d.Hint == "" {
		d.WithHint("USING MATERIALIZED STATE %s … makes it available", f.Relay.Text)
	}
	return nil, d
}

// column reads the field of a schema.
func (c *checker) column(scope Scope, s *vocab.Schema, f *ast.Field) (*Expr, *ast.Diagnostic) {
	i := s.Index(f.Name.Text)
	if i < 0 {
		return nil, c.unknownField(scopeNames[scope], s.Fields, f.Name)
	}
	return columnAt(scope, i, s.Fields[i]), nil
}

func columnAt(scope Scope, i int, field vocab.Field) *Expr {
	return &Expr{
		Op: OpColumn, Type: field.Type, Optional: field.Optional, Sensitive: field.Sensitive,
		Column: Column{Scope: scope, Index: i, Name: field.Name},
	}
}

var scopeNames = [...]string{ScopeInput: "input", ScopeOutput: "output", ScopeError: "error",
	ScopePartialOutput: "partial_output", ScopeMetadata: "metadata", ScopeLeft: "left", ScopeRight: "right",
	ScopeBranch: "branch", ScopeState: "relay_state", ScopeGenerated: "generated", ScopeLocal: "local"}

// String returns the word of the scope. Generated fields and the names of a
// function are read bare: theirs only describes them.
func (s Scope) String() string { return scopeNames[s] }

// hintsMax bounds the faults that get a proposal: comparing a name with every
// field costs more than anything else here, and nobody reads further.
const hintsMax = 64

// listedMax bounds the fields that a fault lists where none is like the name.
const listedMax = 8

// near proposes one of the names for a misspelt one.
func (c *checker) near(word string, names []string) string {
	if len(c.found) >= hintsMax {
		return ""
	}
	if best := vocab.Nearest(word, names); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

func (c *checker) unknownField(scope string, fields []vocab.Field, name ast.Name) *ast.Diagnostic {
	d := ast.Errorf(ast.CodeUnknownField, name.Span, "scope '%s' has no field '%s'", scope, name.Text)
	var names []string // each once: input and output share many
	if len(c.found) < hintsMax {
		seen := make(map[string]bool, len(fields))
		for i := range fields {
			if name := fields[i].Name; !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	switch d.Hint = c.near(name.Text, names); {
	case d.Hint != "":
	case strings.HasPrefix(name.Text, "current_") && writtenHere(name.Text) != "":
		d.Hint = writtenHere(name.Text)
	case scope != "" && Signature(name.Text) == name.Text+"()":
		d.Hint = "a function is called with parentheses: " + name.Text + "()"
	case len(names) > 0 && len(names) <= listedMax:
		d.Hint = "fields are " + strings.Join(names, ", ")
	}
	return d
}

// resolve finds what a field reads.
func (c *checker) resolve(f *ast.Field) (*Expr, *ast.Diagnostic) {
	if s := c.reading[f.Scope]; s != nil {
		return s(c, f)
	}
	if f.Scope != ast.ScopeBare {
		d := ast.Errorf(ast.CodeScope, f.Span, "scope '%s' is not available in %s", f.Scope, c.env.Place)
		if f.Scope == ast.ScopeInput && c.aggregated != nil {
			d.WithHint("aggregates read the rows of the window, such as LAST(input.%s)", f.Name.Text)
		} else if scopes := c.reading.scopes(); len(scopes) > 0 {
			d.WithHint("scopes here are %s", strings.Join(scopes, ", "))
		}
		return nil, d
	}
	d := ast.Errorf(ast.CodeScope, f.Span, "field '%s' needs a scope in %s", f.Name.Text, c.env.Place)
	for _, scope := range []ast.Scope{ast.ScopeInput, ast.ScopeLeft, ast.ScopeRight} {
		if c.reading[scope] != nil {
			if text := strings.ToUpper(f.Name.Text); slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, text) && c.env.Place == "METHOD" {
				return nil, d.WithHint("a text stands in quotes: '%s'; a field is written %s.%s", text, scope, f.Name.Text)
			}
			return nil, d.WithHint("write %s.%s", scope, f.Name.Text)
		}
	}
	return nil, d.WithHint("no field can be read here")
}
