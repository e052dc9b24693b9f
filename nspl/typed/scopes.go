package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// scopes says what a field means in one context.
type scopes interface {
	resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic)
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
	ScopePartialOutput: "partial_output", ScopeMetadata: "metadata"}

// hintsMax bounds the faults that get a proposal: comparing a name with every
// field costs more than anything else here, and nobody reads further.
const hintsMax = 64

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
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	d.Hint = c.near(name.Text, names)
	return d
}

// absent is a scope that the context does not have.
func (c *checker) absent(f *ast.Field) *ast.Diagnostic {
	if f.Scope == ast.ScopeBare {
		return ast.Errorf(ast.CodeScope, f.Span, "field '%s' needs a scope in %s", f.Name.Text, c.env.Place).
			WithHint("write input.%s", f.Name.Text)
	}
	return ast.Errorf(ast.CodeScope, f.Span, "scope '%s' is not available in %s", f.Scope, c.env.Place)
}

// common resolves the scopes that mean the same wherever they stand.
func (c *checker) common(f *ast.Field) (*Expr, *ast.Diagnostic) {
	switch {
	case f.Scope == ast.ScopeInput && c.env.Input != nil:
		return c.column(ScopeInput, c.env.Input, f)
	case f.Scope == ast.ScopeMetadata && c.env.Metadata != nil:
		return c.column(ScopeMetadata, &vocab.Schema{Fields: c.env.Metadata}, f)
	}
	return nil, c.absent(f)
}

// inputScopes are those of a predicate over the input row, which bare names and
// message mean too.
type inputScopes struct{}

func (inputScopes) resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	if f.Scope == ast.ScopeBare || f.Scope == ast.ScopeMessage {
		return c.column(ScopeInput, c.env.Input, f)
	}
	return c.common(f)
}

// finishedScopes are those of a route's WHERE: bare names, message and output
// mean the finished output.
type finishedScopes struct{ output *vocab.Schema }

func (s finishedScopes) resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	switch f.Scope {
	case ast.ScopeBare, ast.ScopeMessage, ast.ScopeOutput:
		return c.column(ScopeOutput, s.output, f)
	}
	return c.common(f)
}

// sinkScopes are those of method, path and headers: names are qualified, message
// is the finished record, or the source row where there is no body.
type sinkScopes struct{ output *vocab.Schema }

func (s sinkScopes) resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	switch {
	case (f.Scope == ast.ScopeOutput || f.Scope == ast.ScopeMessage) && s.output != nil:
		return c.column(ScopeOutput, s.output, f)
	case f.Scope == ast.ScopeMessage:
		return c.column(ScopeInput, c.env.Input, f)
	}
	return c.common(f)
}

// errorScopes are those of an error record: bare names mean its own fields set so
// far.
type errorScopes struct{ *workingMessage }

func (s errorScopes) resolve(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	switch {
	case f.Scope == ast.ScopeBare:
		return s.outputField(c, f)
	case f.Scope == ast.ScopeError:
		return c.column(ScopeError, vocab.ErrorScope(), f)
	case f.Scope == ast.ScopePartialOutput && c.env.Partial != nil:
		e, d := c.column(ScopePartialOutput, c.env.Partial, f)
		if e != nil {
			e.Optional = true
		}
		return e, d
	}
	return c.common(f)
}
