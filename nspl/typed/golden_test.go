package typed_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// TestGolden checks expressions and constructions. The lines of an input that
// begin with the words of surroundings describe them; the rest is the text that is
// checked, with the spans of diagnostics pointing into it.
func TestGolden(t *testing.T) {
	goldentest.Run(t, "testdata/golden", func(t *testing.T, c goldentest.Case) string {
		env, out, text := surroundings(t, c.Input)
		switch c.Command {
		case "filter", "subscription", "correlate", "group":
			check := map[string]func(ast.Expr, typed.Env) (*typed.Expr, ast.Diagnostics){
				"filter": typed.CheckFilter, "subscription": typed.CheckSubscription, "correlate": typed.CheckCorrelate, "group": typed.CheckGroup,
			}[c.Command]
			env.Place = map[string]string{"filter": "FILTER WHERE", "subscription": "subscription WHERE",
				"correlate": "CORRELATE WHERE", "group": "FIFO GROUP"}[c.Command]
			e, found := check(expression(t, text), env)
			return result(text, exprText(e), found)
		case "text":
			env.Place = "PATH"
			e, found := typed.CheckText(expression(t, text), out, env)
			return result(text, exprText(e), found)
		case "keys", "ordered":
			env.Place = map[string]string{"keys": "DEDUPLICATE ON", "ordered": "BY"}[c.Command]
			list, found := typed.CheckKeys([]ast.Expr{expression(t, text)}, c.Command == "ordered", env)
			return result(text, exprTexts(list), found)
		case "values", "tensors":
			env.Place = map[string]string{"values": "VALUES", "tensors": "INPUTS"}[c.Command]
			check := map[string]func([]typed.Value, typed.Env) ([]*typed.Expr, ast.Diagnostics){
				"values": typed.CheckValues, "tensors": typed.CheckTensors}[c.Command]
			v := typed.Value{Name: "v", Expr: expression(t, text)}
			if out != nil {
				v.Want = &out.Fields[0].Type
			}
			list, found := check([]typed.Value{v}, env)
			return result(text, exprTexts(list), found)
		case "construct", "setonly":
			head := routeHead + "TO r "
			env.Span = vocab.Span{Start: len(head) - 2, End: len(head) - 1}
			text = head + strings.TrimSuffix(text, "\n")
			r := route(t, text+" FLUSH IMMEDIATE ON MESSAGE ERROR LOG")
			check := typed.CheckConstruction
			if c.Command == "setonly" {
				check = typed.CheckSetOnly
			}
			k, found := check(r.Construction, out, env)
			return result(text, constructionText(k), found)
		case "key":
			text = strings.TrimSuffix(text, "\n")
			env.Span = vocab.Span{End: 3}
			k, found := typed.CheckBranchKey(assignments(t, text), out, env.Partial, env)
			return result(text, constructionText(k), found)
		case "default":
			text, env.Place = strings.TrimSuffix(text, "\n"), "DEFAULT"
			env.Span = vocab.Span{End: 3}
			k, found := typed.CheckDefault(assignments(t, text), out, env)
			return result(text, constructionText(k), found)
		case "record":
			text = routeHead + "TO r FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO e " + text
			k, found := typed.CheckErrorRecord(route(t, text).OnError.Set, out, env)
			return result(text, constructionText(k), found)
		}
		t.Fatalf("unknown command %q", c.Command)
		return ""
	})
}

// assignments returns those of a text that begins with SET.
func assignments(t *testing.T, text string) []ast.Assign {
	const tail = " FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	const head = "CREATE INGESTOR i FROM HTTP ENDPOINT e MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING c TO r BRANCHED BY b "
	s, err := parse.Statement(head + text + tail)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	set := s.(*ast.CreateIngestor).Routes[0].Branch.Set
	moveBack(reflect.ValueOf(set), len(head))
	return set
}

// moveBack makes the spans of a tree count from a later place of the text.
func moveBack(v reflect.Value, by int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			moveBack(v.Elem(), by)
		}
	case reflect.Slice:
		for i := range v.Len() {
			moveBack(v.Index(i), by)
		}
	case reflect.Struct:
		if span, ok := v.Addr().Interface().(*vocab.Span); ok {
			span.Start, span.End = span.Start-by, span.End-by
			return
		}
		for i := range v.NumField() {
			moveBack(v.Field(i), by)
		}
	}
}

func surroundings(t *testing.T, input string) (env typed.Env, out *vocab.Schema, text string) {
	env.Place = "junction"
	maps, functions := map[string]typed.HashMap{}, map[string]*typed.Function{}
	env.UDF = func(name string) (*typed.Function, bool) { f, ok := functions[name]; return f, ok }
	for line := range strings.Lines(input) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "input":
			env.Input = schema(t, rest)
		case "left":
			env.Left = schema(t, rest)
		case "right":
			env.Right = schema(t, rest)
		case "branch":
			env.Branch = schema(t, rest)
		case "generated":
			env.Generated = schema(t, rest)
		case "output":
			out = schema(t, rest)
		case "partial":
			env.Partial = schema(t, rest)
		case "metadata":
			env.Metadata = schema(t, rest).Fields
		case "state": // state relay fields
			relay, fields, _ := strings.Cut(rest, " ")
			env.States = append(env.States, typed.State{Relay: relay, Schema: schema(t, fields)})
		case "map": // map name fields, of which the first is the key
			name, fields, _ := strings.Cut(rest, " ")
			s := schema(t, fields)
			maps[name] = typed.HashMap{Name: name, Key: s.Fields[0].Type, Schema: s}
			env.HashMap = func(name string) (typed.HashMap, bool) { m, ok := maps[name]; return m, ok }
		case "function": // function name result; parameters, both as fields
			name, fields, _ := strings.Cut(rest, " ")
			result, params, _ := strings.Cut(fields, "; ")
			returns := schema(t, "r "+strings.TrimSuffix(result, " VOLATILE")).Fields[0]
			f := &typed.Function{Name: name, Returns: returns.Type, Optional: returns.Optional, Volatile: strings.HasSuffix(result, " VOLATILE")}
			for _, p := range schema(t, params).Fields {
				f.Params = append(f.Params, typed.Param{Name: p.Name, Type: p.Type, Optional: p.Optional})
			}
			functions[name] = f
		case "headers":
			env.Headers = true
		case "window":
			env.Aggregates = true
		case "external":
			env.External = true
		default:
			text += line
		}
	}
	return env, out, text
}

func schema(t *testing.T, fields string) *vocab.Schema {
	e, err := model.Parse("CREATE SCHEMA s (" + fields + ")")
	if err != nil {
		t.Fatal(err)
	}
	return &e.(*model.Schema).Schema
}

func expression(t *testing.T, text string) ast.Expr {
	e, err := parse.Expression(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

const routeHead = "CREATE JUNCTION j FROM a UNBRANCHED\n"

// route returns the route of a junction.
func route(t *testing.T, text string) ast.Route {
	s, err := parse.Statement(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.(*ast.CreateJunction).Routes[0]
}

func result(text, ok string, found ast.Diagnostics) string {
	if found != nil {
		return found.Explain(text)
	}
	return ok
}

func exprText(e *typed.Expr) string {
	if e == nil {
		return "nothing\n"
	}
	return typeText(e) + "\n" + treeText(e) + "\n"
}

func exprTexts(list []*typed.Expr) string {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(exprText(e))
	}
	return b.String()
}

// typeText lists what the checker found out about a node.
func typeText(e *typed.Expr) string {
	s := e.Type.String()
	for _, flag := range []struct {
		set  bool
		word string
	}{{e.Optional, "optional"}, {e.Sensitive, "sensitive"}, {e.Fallible, "fallible"}, {e.Volatility == typed.Stable, "stable"},
		{e.Volatility == typed.Volatile, "volatile"}} {
		if flag.set {
			s += " " + flag.word
		}
	}
	return s
}

var opWords = [...]string{typed.OpNot: "not", typed.OpNeg: "neg", typed.OpAnd: "and", typed.OpOr: "or", typed.OpEq: "=", typed.OpNe: "!=",
	typed.OpLt: "<", typed.OpLe: "<=", typed.OpGt: ">", typed.OpGe: ">=", typed.OpDistinct: "distinct", typed.OpNotDistinct: "not-distinct",
	typed.OpAdd: "+", typed.OpSub: "-", typed.OpMul: "*", typed.OpDiv: "/", typed.OpRem: "%", typed.OpIn: "in", typed.OpBetween: "between",
	typed.OpList: "list", typed.OpJSONValue: "json", typed.OpTryJSONValue: "try-json", typed.OpJSONExists: "json-exists",
	typed.OpLookup: "lookup", typed.OpAggregate: "aggregate ", typed.OpUDF: "udf::",
	typed.OpCast: "cast", typed.OpTryCast: "try-cast", typed.OpCase: "case", typed.OpCaseValue: "case-value", typed.OpCall: ""}

func treeText(e *typed.Expr) string {
	switch e.Op {
	case typed.OpLiteral:
		return literalText(e.Literal, e.Type.Kind)
	case typed.OpColumn:
		if e.Column.Scope == typed.ScopeState {
			return fmt.Sprintf("relay_state.%s.%s", e.Column.State, e.Column.Name)
		}
		return fmt.Sprintf("%s.%s", e.Column.Scope, e.Column.Name)
	}
	parts := []string{opWords[e.Op] + e.Func}
	if e.Negated {
		parts[0] = "not-" + parts[0]
	}
	if e.Lookup != nil {
		parts = append(parts, e.Lookup.Map+"."+e.Lookup.Field)
	}
	for _, step := range e.Path {
		parts = append(parts, fmt.Sprintf("%s[%d]", step.Member, step.Index))
	}
	for _, a := range e.Args {
		parts = append(parts, treeText(a))
	}
	for _, l := range e.Set {
		parts = append(parts, literalText(l, e.Args[0].Type.Kind))
	}
	switch e.Op {
	case typed.OpCast, typed.OpTryCast, typed.OpJSONValue, typed.OpTryJSONValue:
		parts = append(parts, e.Type.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func literalText(l typed.Literal, k vocab.Kind) string {
	switch {
	case l.Null:
		return "NULL:" + k.String()
	case k == vocab.Bool:
		return strconv.FormatBool(l.Bool)
	case k == vocab.String:
		return strconv.Quote(l.Str)
	case k.Float():
		return fmt.Sprintf("%v:%s", l.Float, k)
	case k.Signed() || k == vocab.Datetime:
		return fmt.Sprintf("%d:%s", l.Int, k)
	}
	return fmt.Sprintf("%d:%s", l.Uint, k)
}

func constructionText(k typed.Construction) string {
	var b strings.Builder
	for _, s := range k.Steps {
		how := "set"
		if s.Inherit {
			how = "inherit"
		}
		fmt.Fprintf(&b, "%s %s: %s %s\n", how, k.Output.Fields[s.Target].Name, typeText(s.Expr), treeText(s.Expr))
	}
	if k.Where != nil {
		fmt.Fprintf(&b, "where: %s %s\n", typeText(k.Where), treeText(k.Where))
	}
	return b.String()
}

// TestDiagnosticsAreErrors shows how callers reach code and place.
func TestDiagnosticsAreErrors(t *testing.T) {
	_, found := typed.CheckFilter(expression(t, "a + 1 = 'x'"), typed.Env{Place: "FILTER WHERE", Input: schema(t, "a U8")})
	var d *ast.Diagnostic
	if !errors.As(found.Err(), &d) || d.Code != ast.CodeTypeMismatch {
		t.Fatalf("%v", found)
	}
	if (ast.Diagnostics)(nil).Err() != nil {
		t.Fatal("no diagnostics are an error")
	}
}
