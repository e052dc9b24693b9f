package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Env is what surrounds an expression: which scopes it reads and what it may
// call.
type Env struct {
	// Place is how messages call the context. Filters and texts are called by the
	// clause, "FILTER WHERE" or "PATH"; constructions and error records by what
	// they belong to, "junction" or "ON MESSAGE ERROR", to which " SET" or " WHERE"
	// is added.
	Place string
	// Span is where a fault of a whole clause points, such as a required field
	// that no SET mentions.
	Span vocab.Span
	// Input is the row as it arrived.
	Input *vocab.Schema
	// Metadata and Headers belong to ingestors: fields of scope metadata, and
	// whether read_header may be called.
	Metadata []vocab.Field
	Headers  bool
	// Partial is the output of the failed route, for CheckErrorRecord.
	Partial *vocab.Schema
	// External says that the output leaves the system: sensitive values need an
	// explicit leak whatever the output's field says.
	External bool
}

// CheckFilter checks a predicate over the input row: FROM … WHERE, FILTER WHERE,
// the WHERE of an emitter without body, the WHERE of a subscription. A nil
// expression gives nil, which keeps every row.
func CheckFilter(e ast.Expr, env Env) (*Expr, ast.Diagnostics) {
	if e == nil {
		return nil, nil
	}
	c := &checker{env: env, scopes: inputScopes{}}
	return c.predicate(e), c.found
}

// CheckConstruction checks a transforming route: INHERIT, SET and WHERE over the
// working message, which ends as a record of the output schema.
func CheckConstruction(k ast.Construction, output *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{input: env.Input, output: output, set: make([]bool, len(output.Fields))}
	c := &checker{env: env, scopes: w}
	c.env.Place = env.Place + " SET"
	steps := append(c.inherit(k.Inherit, w), c.assignments(k.Set, w)...)
	c.finalize(w)
	t := Construction{Output: output, Steps: steps}
	if k.Where != nil {
		c.env.Place = env.Place + " WHERE"
		c.scopes = finishedScopes{output}
		t.Where = c.predicate(k.Where)
	}
	return t, c.found
}

// CheckErrorRecord checks the SET of ON MESSAGE ERROR SEND TO. Record is the
// schema of the error relay.
func CheckErrorRecord(set []ast.Assign, record *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{output: record, set: make([]bool, len(record.Fields))}
	c := &checker{env: env, scopes: errorScopes{w}}
	c.env.Place = env.Place + " SET"
	t := Construction{Output: record, Steps: c.assignments(set, w)}
	c.finalize(w)
	return t, c.found
}

// CheckText checks an expression that is sent as text: method, path, name and
// value of a header. Output is the finished record, nil without a body. The
// result is a required STRING that is not sensitive.
func CheckText(e ast.Expr, output *vocab.Schema, env Env) (*Expr, ast.Diagnostics) {
	c := &checker{env: env, scopes: sinkScopes{output}}
	t := c.expr(e, nil)
	if t == nil {
		return nil, c.found
	}
	switch {
	case !t.Type.Equal(vocab.Scalar(vocab.String)):
		c.fault(ast.CodeTypeMismatch, t.Span, "%s must be STRING, not %s", env.Place, t.Type).
			WithHint("convert it: … AS STRING")
	case t.Optional:
		c.fault(ast.CodeTypeMismatch, t.Span, "%s may be null", env.Place).WithHint("coalesce(…, '')")
	case t.Sensitive:
		c.leak(t.Span, env.Place)
	}
	return t, c.found
}
