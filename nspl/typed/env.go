package typed

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Env is what surrounds an expression: which scopes it reads and what it may
// call. What is nil or false is not available; each Check function takes the part
// of it that its context has.
type Env struct {
	// Place is how messages call the context. Single expressions are called by the
	// clause, "FILTER WHERE" or "PATH"; constructions and error records by what they
	// belong to, "junction" or "ON MESSAGE ERROR", to which " SET" or " WHERE" is
	// added.
	Place string
	// Span is where a fault of a whole clause points, such as a required field
	// that no SET mentions.
	Span vocab.Span

	// Input is the row as it arrived; Left and Right are the rows of a correlator.
	Input, Left, Right *vocab.Schema
	// Branch is the key schema of a branched node. Emitters set it for their error
	// record only.
	Branch *vocab.Schema
	// States are the materialized states that the node depends on, in order.
	States []State
	// Generated is what an inferencer or WASM processor makes.
	Generated *vocab.Schema
	// Metadata and Headers belong to ingestors: fields of scope metadata, and
	// whether read_header and read_headers may be called.
	Metadata []vocab.Field
	Headers  bool
	// Partial is the output of the failed route, for CheckErrorRecord.
	Partial *vocab.Schema

	// HashMap finds what LOOKUP_HASH_MAP reads. It is nil for emitters without a
	// codec, apart from their error record; the Check functions of contexts that never
	// look up ignore it.
	HashMap func(name string) (HashMap, bool)
	// UDF finds the function that udf:: calls.
	UDF func(name string) (*Function, bool)

	// Aggregates says that a set-only route belongs to a window.
	Aggregates bool
	// External says that the output leaves the system: sensitive values need an
	// explicit leak whatever the output's field says.
	External bool
}

// State is the materialized state of one relay.
type State struct {
	Relay  string
	Schema *vocab.Schema
}

// HashMap is what callers see of a hash map.
type HashMap struct {
	Name string
	// Key is the type of the key field, Schema that of the records.
	Key    vocab.Type
	Schema *vocab.Schema
}

// Value is a named expression: an entry of VALUES, ATTRIBUTES or INPUTS.
type Value struct {
	Name string
	Expr ast.Expr
	// Want is the type the entry must have, nil for any.
	Want *vocab.Type
}

// begin starts a check in a context.
func begin(env Env, r reading) *checker {
	return &checker{env: env, reading: r, steady: Volatile, misplaced: ast.CodeContext}
}

// CheckFilter checks a predicate: FROM … WHERE, FILTER WHERE, WHERE of a direct
// sink or of an emitter without body. Bare names, input and message are the input
// row; metadata, branch and relay_state as the surroundings have them. With Left
// or Right it is the FROM … WHERE of that side of a correlator, where nothing is
// read bare. A nil expression gives nil, which keeps every row.
func CheckFilter(e ast.Expr, env Env) (*Expr, ast.Diagnostics) {
	if e == nil {
		return nil, nil
	}
	c := begin(env, env.row())
	return c.predicate(e), c.found
}

// CheckSubscription checks the predicate of a subscription: bare names, input and
// message are the record of the relay; nothing else can be read, and no lookup,
// aggregate or header be called.
func CheckSubscription(e ast.Expr, env Env) (*Expr, ast.Diagnostics) {
	if e == nil {
		return nil, nil
	}
	env = Env{Place: env.Place, Span: env.Span, Input: env.Input, UDF: env.UDF}
	c := begin(env, env.row())
	c.misplaced = ast.CodeScope
	return c.predicate(e), c.found
}

// CheckCorrelate checks CORRELATE WHERE: left, right and branch; nothing is read
// bare, and nothing volatile called.
func CheckCorrelate(e ast.Expr, env Env) (*Expr, ast.Diagnostics) {
	env.Input, env.States, env.HashMap = nil, nil, nil
	c := begin(env, env.common())
	c.steady = Stable
	return c.predicate(e), c.found
}

// CheckKeys checks DEDUPLICATE ON and BY: scalars over bare names, input and
// message, which are the input row, and branch. Orderable keys are those of a
// reorderer. Nothing volatile can be called.
func CheckKeys(keys []ast.Expr, orderable bool, env Env) ([]*Expr, ast.Diagnostics) {
	env.States, env.HashMap, env.Metadata, env.Headers = nil, nil, nil, false
	c := begin(env, env.row())
	c.steady = Stable
	list := make([]*Expr, 0, len(keys))
	for _, key := range keys {
		t := c.expr(key, nil)
		switch {
		case t == nil:
		case !t.Type.Kind.Scalar():
			what := "compared"
			if orderable {
				what = "ordered"
			}
			c.fault(ast.CodeTypeMismatch, t.Span, "%s needs scalars, not %s, which cannot be %s", env.Place, t.Type, what)
		default:
			list = append(list, t)
		}
	}
	return list, c.found
}

// CheckTensors checks INPUTS of an inferencer: bare names, input and message are
// the input row, and branch. Want is the type that the shape of the tensor gives.
func CheckTensors(inputs []Value, env Env) ([]*Expr, ast.Diagnostics) {
	env.States, env.HashMap, env.Metadata, env.Headers = nil, nil, nil, false
	c := begin(env, env.row())
	return c.values(inputs, false), c.found
}

// CheckValues checks VALUES and ATTRIBUTES: independent expressions over the
// source row, which bare names, input and message mean, and relay_state. Their
// values leave the system.
func CheckValues(entries []Value, env Env) ([]*Expr, ast.Diagnostics) {
	env.Branch, env.HashMap = nil, nil
	c := begin(env, env.row())
	return c.values(entries, true), c.found
}

// values checks entries; leaving ones may not be sensitive. What is faulty is nil.
func (c *checker) values(entries []Value, leaving bool) []*Expr {
	list := make([]*Expr, len(entries))
	for i, v := range entries {
		t := c.expr(v.Expr, v.Want)
		switch {
		case t == nil:
			continue
		case v.Want != nil && !t.Type.Equal(*v.Want):
			d := c.fault(ast.CodeTypeMismatch, t.Span, "%s '%s' is %s, the value is %s", c.env.Place, v.Name, v.Want, t.Type)
			if v.Want.Kind.Scalar() && castable(t.Type.Kind, v.Want.Kind) {
				d.WithHint("convert it: … AS %s", v.Want)
			}
			continue
		case leaving && t.Sensitive:
			c.leak(t.Span, c.env.Place+" '"+v.Name+"'")
			continue
		}
		list[i] = t
	}
	return list
}

// CheckGroup checks FIFO GROUP: a required STRING over the source row, which bare
// names, input and message mean, that is not sensitive.
func CheckGroup(e ast.Expr, env Env) (*Expr, ast.Diagnostics) {
	env.Branch, env.States = nil, nil
	c := begin(env, env.row())
	return c.sent(e), c.found
}

// CheckText checks an expression that is sent as text: method, path, name and
// value of a header. Names are qualified: input, relay_state, and output and
// message as the finished record; without one, which is a nil output, message is
// the source row. The result is a required STRING that is not sensitive.
func CheckText(e ast.Expr, output *vocab.Schema, env Env) (*Expr, ast.Diagnostics) {
	r := env.common()
	if output != nil {
		r = r.with(from(ScopeOutput, output), ast.ScopeOutput, ast.ScopeMessage)
	} else {
		r = r.with(from(ScopeInput, env.Input), ast.ScopeMessage)
	}
	c := begin(env, r)
	return c.sent(e), c.found
}

// sent checks a required STRING that leaves the system.
func (c *checker) sent(e ast.Expr) *Expr {
	t := c.expr(e, nil)
	switch {
	case t == nil:
		return nil
	case !t.Type.Equal(vocab.Scalar(vocab.String)):
		c.fault(ast.CodeTypeMismatch, t.Span, "%s must be STRING, not %s", c.env.Place, t.Type).
			WithHint("convert it: … AS STRING")
	case t.Optional:
		c.fault(ast.CodeTypeMismatch, t.Span, "%s may be null", c.env.Place).WithHint("coalesce(…, '')")
	case t.Sensitive:
		c.leak(t.Span, c.env.Place)
	}
	return t
}
