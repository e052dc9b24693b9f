package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// CheckConstruction checks a transforming route: INHERIT, SET and WHERE over the
// working message, which ends as a record of the output schema. In SET bare names
// and message are the working message, and input and output are read besides; in
// WHERE bare names, message and output are the finished output. Both read
// relay_state, branch and metadata as the surroundings have them.
func CheckConstruction(k ast.Construction, output *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{input: env.Input, output: output, set: make([]bool, len(output.Fields)), inherits: true}
	c := begin(env, env.common().with(w.outputField, ast.ScopeOutput).with(w.message, ast.ScopeBare, ast.ScopeMessage))
	c.env.Place = env.Place + " SET"
	steps := append(c.inherit(k.Inherit, w), c.assignments(k.Set, w)...)
	c.finalize(w)
	return c.route(steps, k.Where, output, env.Place)
}

// CheckSetOnly checks the route of a generator, window, inferencer, WASM processor
// or correlator. Bare names are the output set so far, those of Generated the
// generated field until the output of that name is set; left, right, output, branch
// and relay_state as the surroundings have them. Of a window, the input can be read
// inside aggregates only, and nothing else there. WHERE reads the finished output.
// There is at least one assignment, and every required field is set.
func CheckSetOnly(k ast.Construction, output *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{input: env.Generated, output: output, set: make([]bool, len(output.Fields))}
	row, lookups := env.Input, env.HashMap
	env.Input, env.Headers, env.Metadata = nil, false, nil
	if env.Generated == nil {
		env.HashMap = nil
	}
	r := env.common().with(w.outputField, ast.ScopeBare, ast.ScopeOutput)
	if env.Generated != nil {
		r = r.with(w.generated, ast.ScopeBare)
	}
	c := begin(env, r)
	c.env.Place = env.Place + " SET"
	if env.Aggregates {
		inside := reading{}.with(from(ScopeInput, row), ast.ScopeInput)
		c.aggregated, c.row = &inside, row
		c.env.HashMap = nil
	}
	if len(k.Set) == 0 {
		c.fault(ast.CodeMissingSet, env.Span, "%s needs at least one assignment", c.env.Place)
		return Construction{Output: output}, c.found
	}
	steps := c.assignments(k.Set, w)
	if env.Aggregates && !c.aggregates && len(c.found) == 0 {
		c.fault(ast.CodeAggregate, env.Span, "%s needs at least one aggregate", c.env.Place).WithHint("COUNT(input.field) counts the rows of the window")
	}
	c.finalize(w)
	if env.Aggregates {
		c.env.HashMap = lookups
	}
	return c.route(steps, k.Where, output, env.Place)
}

// route checks the WHERE of a route over its finished output.
func (c *checker) route(steps []Step, where ast.Expr, output *vocab.Schema, place string) (Construction, ast.Diagnostics) {
	t := Construction{Output: output, Steps: steps}
	if where != nil {
		c.env.Place, c.aggregated = place+" WHERE", nil
		c.reading = c.env.finished(output)
		t.Where = c.predicate(where)
	}
	return t, c.found
}

// CheckErrorRecord checks the SET of ON MESSAGE ERROR SEND TO. Record is the
// schema of the error relay. Bare names are the fields of the record set so far;
// error, partial_output, input or left and right, relay_state, branch and metadata
// as the surroundings have them.
func CheckErrorRecord(set []ast.Assign, record *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{output: record, set: make([]bool, len(record.Fields))}
	c := begin(env, env.common().with(w.outputField, ast.ScopeBare).with(from(ScopeError, vocab.ErrorScope()), ast.ScopeError))
	if env.Partial != nil {
		c.reading = c.reading.with(partialField, ast.ScopePartialOutput)
	}
	c.env.Place = env.Place + " SET"
	t := Construction{Output: record, Steps: c.assignments(set, w)}
	c.finalize(w)
	return t, c.found
}

// partialField reads the output of the failed route, which may have failed before
// any field was set.
func partialField(c *checker, f *ast.Field) (*Expr, *ast.Diagnostic) {
	e, d := c.column(ScopePartialOutput, c.env.Partial, f)
	if e != nil {
		e.Optional = true
	}
	return e, d
}

// CheckBranchKey checks BRANCHED BY … SET, which makes the key of a record. Bare
// names and branch are the key fields set so far; message and output are the
// finished output; input and relay_state besides. In the result ScopeBranch is the
// key under construction, ScopeOutput the finished output of the route.
func CheckBranchKey(set []ast.Assign, key, output *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{input: output, output: key, set: make([]bool, len(key.Fields)), scope: ScopeBranch}
	env.Branch = nil
	c := begin(env, env.common().with(w.outputField, ast.ScopeBare, ast.ScopeBranch).
		with(from(ScopeOutput, output), ast.ScopeMessage, ast.ScopeOutput))
	t := Construction{Output: key, Steps: c.assignments(set, w)}
	for i, f := range key.Fields {
		if !w.set[i] {
			c.fault(ast.CodeMissingSet, env.Span, "key field '%s' is never set", f.Name).Hint = c.source(f, w)
		}
	}
	return t, c.found
}

// CheckDefault checks the DEFAULT of a state dependency: constants and functions
// whose value is the same whenever they are called. It has every required field of
// the state.
func CheckDefault(set []ast.Assign, state *vocab.Schema, env Env) (Construction, ast.Diagnostics) {
	w := &workingMessage{output: state, set: make([]bool, len(state.Fields))}
	c := begin(Env{Place: env.Place, Span: env.Span, UDF: env.UDF}, reading{})
	c.steady = Immutable
	t := Construction{Output: state, Steps: c.assignments(set, w)}
	c.finalize(w)
	return t, c.found
}
