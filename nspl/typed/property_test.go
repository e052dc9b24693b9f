package typed_test

import (
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// drawn is an expression with what must be found out about it.
type drawn struct {
	ast.Expr
	kind                vocab.Kind
	optional, sensitive bool
}

// wellTyped draws expressions that are correct by construction.
type wellTyped struct {
	*rapid.T
	input *vocab.Schema
}

var drawnKinds = []vocab.Kind{vocab.U8, vocab.I32, vocab.I64, vocab.F64, vocab.Bool, vocab.String, vocab.Datetime}

func (g wellTyped) n(max int) int { return rapid.IntRange(0, max).Draw(g.T, "n") }

func (g wellTyped) anyKind() vocab.Kind { return drawnKinds[g.n(len(drawnKinds)-1)] }

func join(e ast.Expr, kind vocab.Kind, args ...drawn) drawn {
	d := drawn{Expr: e, kind: kind}
	for _, a := range args {
		d.optional = d.optional || a.optional
		d.sensitive = d.sensitive || a.sensitive
	}
	return d
}

func call(name string, kind vocab.Kind, args ...drawn) drawn {
	c := &ast.Call{Name: ast.Name{Text: name}}
	for _, a := range args {
		c.Args = append(c.Args, a.Expr)
	}
	return join(c, kind, args...)
}

func cast(d drawn, to vocab.Kind) drawn {
	return join(&ast.Cast{X: d.Expr, Type: ast.Type{Type: vocab.Scalar(to)}}, to, d)
}

func (g wellTyped) leaf(kind vocab.Kind) drawn {
	for _, i := range rapid.Permutation(indices(len(g.input.Fields))).Draw(g.T, "fields") {
		if f := g.input.Fields[i]; f.Type.Kind == kind && g.n(2) > 0 {
			return drawn{&ast.Field{Scope: ast.Scope(g.n(2)), Name: ast.Name{Text: f.Name}}, kind, f.Optional, f.Sensitive}
		}
	}
	switch kind {
	case vocab.I64:
		return drawn{Expr: &ast.IntLit{Value: 7}, kind: kind}
	case vocab.F64:
		return drawn{Expr: &ast.FloatLit{Value: 0.5}, kind: kind}
	case vocab.Bool:
		return drawn{Expr: &ast.BoolLit{}, kind: kind}
	case vocab.String:
		return drawn{Expr: &ast.StringLit{Value: "x"}, kind: kind}
	}
	return cast(drawn{Expr: &ast.IntLit{Value: 1}, kind: vocab.I64}, kind)
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// expr draws an expression of a kind.
func (g wellTyped) expr(kind vocab.Kind, depth int) drawn {
	if depth == 0 {
		return g.leaf(kind)
	}
	depth--
	switch g.n(8) {
	case 8:
		return g.function(kind, depth)
	case 0:
		a, b := g.expr(kind, depth), g.expr(kind, depth)
		d := call("coalesce", kind, a, b)
		d.optional = a.optional && b.optional
		return d
	case 1:
		d := call("nullif", kind, g.expr(kind, depth), g.expr(kind, depth))
		d.optional = true
		return d
	case 2:
		d := call("leak_sensitive", kind, g.expr(kind, depth))
		d.sensitive = false
		return d
	case 3:
		return g.conditional(kind, depth)
	case 4:
		from := g.anyKind()
		if kind == vocab.Bool && from == vocab.Datetime || kind == vocab.Datetime && from == vocab.Bool {
			from = vocab.String
		}
		d := cast(g.expr(from, depth), kind)
		if g.n(1) == 1 {
			d.Expr.(*ast.Cast).Try, d.optional = true, true
		}
		return d
	case 5:
		return g.leaf(kind)
	}
	switch {
	case kind == vocab.Bool:
		return g.boolean(depth)
	case kind == vocab.String:
		return call("concat", kind, g.expr(kind, depth), g.expr(kind, depth))
	case kind.Numeric():
		a, b := g.expr(kind, depth), g.expr(kind, depth)
		return join(&ast.Binary{Op: ast.Add + ast.BinaryOp(g.n(4)), X: a.Expr, Y: b.Expr}, kind, a, b)
	}
	return call("greatest", kind, g.expr(kind, depth))
}

// function draws a call of a builtin with literals, a list or a JSON text.
func (g wellTyped) function(kind vocab.Kind, depth int) drawn {
	switch {
	case kind == vocab.I64:
		part := drawn{Expr: &ast.StringLit{Value: "iso_week"}}
		zone := drawn{Expr: &ast.StringLit{Value: "Europe/Berlin"}}
		return call("date_part", kind, part, g.expr(vocab.Datetime, depth), zone)
	case kind == vocab.Datetime:
		n := g.expr(vocab.U8, depth)
		return call("date_add", kind, drawn{Expr: &ast.StringLit{Value: "month"}}, n, g.expr(kind, depth))
	case kind == vocab.F64:
		return call("pow", kind, g.expr(vocab.I32, depth), g.expr(kind, depth))
	case kind == vocab.String:
		doc := g.expr(kind, depth)
		d := join(&ast.JSON{Doc: doc.Expr, Path: ast.Text{Text: "$.a[0]"}, Type: ast.Type{Type: vocab.Scalar(kind)}}, kind, doc)
		d.optional = true
		return d
	case kind == vocab.Bool:
		a, b := g.expr(vocab.I32, depth), g.expr(vocab.I32, depth)
		list := join(&ast.List{Items: []ast.Expr{a.Expr, b.Expr}}, vocab.Array, a, b)
		return call("contains", kind, list, g.expr(vocab.I32, depth))
	}
	a, b := g.expr(kind, depth), g.expr(kind, depth)
	d := call("max", kind, call("vec", vocab.Vec, a, b))
	d.optional = true
	return d
}

func (g wellTyped) conditional(kind vocab.Kind, depth int) drawn {
	when, a, b := g.expr(vocab.Bool, depth), g.expr(kind, depth), g.expr(kind, depth)
	c := &ast.Conditional{If: g.n(1) == 1, Arms: []ast.Arm{{When: when.Expr, Then: a.Expr}}, Else: b.Expr}
	d := join(c, kind, when, a, b)
	d.optional = a.optional || b.optional
	if !c.If && g.n(1) == 1 {
		c.Else, d.optional, d.sensitive = nil, true, when.sensitive || a.sensitive
	}
	return d
}

func (g wellTyped) boolean(depth int) drawn {
	switch g.n(5) {
	case 0:
		a := g.expr(g.anyKind(), depth)
		d := call("is_null", vocab.Bool, a)
		d.optional = false
		return d
	case 1:
		a, b := g.expr(vocab.Bool, depth), g.expr(vocab.Bool, depth)
		return join(&ast.Binary{Op: ast.BinaryOp(g.n(1)), X: a.Expr, Y: b.Expr}, vocab.Bool, a, b)
	case 2:
		a := g.expr(vocab.Bool, depth)
		return join(&ast.Unary{Op: ast.Not, X: a.Expr}, vocab.Bool, a)
	case 3:
		kind := g.anyKind()
		a, b := g.expr(kind, depth), g.expr(kind, depth)
		d := join(&ast.Binary{Op: ast.Distinct + ast.BinaryOp(g.n(1)), X: a.Expr, Y: b.Expr}, vocab.Bool, a, b)
		d.optional = false
		return d
	case 4:
		a := g.expr(vocab.String, depth)
		return join(&ast.In{Not: true, X: a.Expr, Set: []ast.Expr{&ast.StringLit{Value: "x"}}}, vocab.Bool, a)
	}
	kind := g.anyKind()
	if kind == vocab.Bool {
		kind = vocab.I32
	}
	a, b, c := g.expr(kind, depth), g.expr(kind, depth), g.expr(kind, depth)
	if g.n(1) == 1 {
		return join(&ast.Between{X: a.Expr, Low: b.Expr, High: c.Expr}, vocab.Bool, a, b, c)
	}
	return join(&ast.Binary{Op: ast.Eq + ast.BinaryOp(g.n(5)), X: a.Expr, Y: b.Expr}, vocab.Bool, a, b)
}

// TestWellTypedIsAccepted draws correct expressions over every kind of field:
// the checker accepts them, with the type they were drawn for, and agrees with
// the generator about nulls and sensitivity (T2, T3).
func TestWellTypedIsAccepted(t *testing.T) {
	input := &vocab.Schema{Name: "s"}
	for i, kind := range drawnKinds {
		letter := string(rune('a' + i))
		input.Fields = append(input.Fields,
			vocab.Field{Name: letter, Type: vocab.Scalar(kind)},
			vocab.Field{Name: letter + "_o", Type: vocab.Scalar(kind), Optional: true},
			vocab.Field{Name: letter + "_s", Type: vocab.Scalar(kind), Sensitive: true})
	}
	rapid.Check(t, func(t *rapid.T) {
		g := wellTyped{t, input}
		d := g.expr(g.anyKind(), 4)
		output := &vocab.Schema{Name: "o", Fields: []vocab.Field{
			{Name: "x", Type: vocab.Scalar(d.kind), Optional: d.optional, Sensitive: d.sensitive},
		}}
		k, found := typed.CheckConstruction(ast.Construction{Set: []ast.Assign{{Target: ast.Name{Text: "x"}, Value: d.Expr}}},
			output, typed.Env{Place: "junction", Input: input})
		if found != nil {
			t.Fatalf("%s: %v", render.Expr(d.Expr), found)
		}
		e := k.Steps[0].Expr
		if e.Type.Kind != d.kind || e.Optional != d.optional || e.Sensitive != d.sensitive {
			t.Fatalf("%s is %s, drawn as %s optional=%v sensitive=%v", render.Expr(d.Expr), typeText(e), d.kind, d.optional, d.sensitive)
		}
		checkOperands(t, e)
		checkSensitivity(t, e)
		if back, err := parse.Expression(render.Expr(d.Expr)); err != nil || !ast.Equal(back, d.Expr) {
			t.Fatalf("%s does not read back: %v", render.Expr(d.Expr), err)
		}
	})
}

// checkSensitivity is T3: nothing but leak_sensitive makes less sensitive what its
// operands are.
func checkSensitivity(t *rapid.T, e *typed.Expr) {
	for _, a := range e.Args {
		if a.Sensitive && !e.Sensitive && e.Func != "leak_sensitive" {
			t.Fatalf("%s loses the sensitivity of %s", treeText(e), treeText(a))
		}
		checkSensitivity(t, a)
	}
}

// checkOperands is T1: no operation gets operands of types it does not take.
func checkOperands(t *rapid.T, e *typed.Expr) {
	switch e.Op {
	case typed.OpEq, typed.OpNe, typed.OpLt, typed.OpLe, typed.OpGt, typed.OpGe, typed.OpDistinct, typed.OpNotDistinct:
		if !e.Args[0].Type.Equal(e.Args[1].Type) {
			t.Fatalf("%s compares different types", treeText(e))
		}
	case typed.OpAdd, typed.OpSub, typed.OpMul, typed.OpDiv, typed.OpRem:
		if !e.Args[0].Type.Equal(e.Type) || !e.Args[1].Type.Equal(e.Type) {
			t.Fatalf("%s calculates with different types", treeText(e))
		}
	case typed.OpCase:
		if len(e.Args)%2 != 1 {
			t.Fatalf("%s has no ELSE", treeText(e))
		}
	case typed.OpCall:
		if typed.Signature(e.Func) == "" {
			t.Fatalf("%s is no function", e.Func)
		}
	}
	for _, a := range e.Args {
		if a.Fallible && !e.Fallible {
			t.Fatalf("%s hides that an operand can fail", treeText(e))
		}
		checkOperands(t, a)
	}
}

// FuzzCheck never panics, and every fault has a code and a place.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{"a = 1", "coalesce(b, 'x') IN ('1' AS STRING)", "CASE a WHEN 1 THEN NULL END BETWEEN -(1) AND TRY_CAST(b AS I64)",
		"d IN ('2026-01-01T00:00:00.5+01:00' AS DATETIME, 5 AS DATETIME)", "output.c AND NOT error.code = read_header(b)",
		"[a, 1] = array(a) OR contains(v, 1.5 AS F32)", "JSON_VALUE(b, '$.x[1]' AS VEC<I64>)", "SUM(input.a) / COUNT(input.b)",
		"lookup_hash_map('m', relay_state.r.a, 'c')", "APPROX_QUANTILE(input.a, 95, 128) > date_part('year', d, 'UTC') AS F64",
		"PERCENTILE_LINEAR_HISTOGRAM(input.a, 5, 1, 0, 1, '1s')", "vec()", "parse_datetime('%F', b, 'UTC', 'later') < date_bin('day', 2, d, d)"} {
		f.Add(text)
	}
	in := &vocab.Schema{Fields: []vocab.Field{
		{Name: "a", Type: vocab.Scalar(vocab.I64)}, {Name: "b", Type: vocab.Scalar(vocab.String), Optional: true, Sensitive: true},
		{Name: "c", Type: vocab.Scalar(vocab.Bool)}, {Name: "d", Type: vocab.Scalar(vocab.Datetime)}, {Name: "v", Type: vocab.VecOf(vocab.Scalar(vocab.F32))},
	}}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse.Expression(text)
		if err != nil {
			return
		}
		env := typed.Env{Place: "x", Input: in, Headers: true, Partial: in, Metadata: in.Fields}
		_, filter := typed.CheckFilter(e, env)
		_, sent := typed.CheckText(e, in, env)
		both := env
		both.Left, both.Right, both.Branch, both.States = in, in, in, []typed.State{{Relay: "r", Schema: in}}
		both.HashMap = func(string) (typed.HashMap, bool) {
			return typed.HashMap{Key: vocab.Scalar(vocab.I64), Schema: in}, true
		}
		_, correlate := typed.CheckCorrelate(e, both)
		_, keys := typed.CheckKeys([]ast.Expr{e}, true, both)
		_, values := typed.CheckValues([]typed.Value{{Name: "v", Expr: e}}, both)
		_, subscribed := typed.CheckSubscription(e, env)
		set := []ast.Assign{{Target: ast.Name{Text: "a"}, Value: e}, {Target: ast.Name{Text: "b"}, Value: e}}
		_, route := typed.CheckConstruction(ast.Construction{Inherit: &ast.Inherit{All: true}, Set: set, Where: e}, in, env)
		_, record := typed.CheckErrorRecord(set, in, both)
		_, key := typed.CheckBranchKey(set, in, in, both)
		_, defaults := typed.CheckDefault(set, in, both)
		generated := both
		generated.Generated = in
		_, made := typed.CheckSetOnly(ast.Construction{Set: set, Where: e}, in, generated)
		window := both
		window.Aggregates = true
		_, aggregated := typed.CheckSetOnly(ast.Construction{Set: set, Where: e}, in, window)
		for _, found := range []ast.Diagnostics{filter, sent, route, record, correlate, keys, values, subscribed, key, defaults, made, aggregated} {
			for _, d := range found {
				if d.Code == "" || d.Span.Start < 0 || d.Span.End > len(text) {
					t.Fatalf("%v at %v", d, d.Span)
				}
			}
		}
	})
}
