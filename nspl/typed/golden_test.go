package typed_test

import (
	"errors"
	"fmt"
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
// begin with input, output, partial, record, metadata, headers or external
// describe the surroundings; the rest is the text that is checked, with the
// spans of diagnostics pointing into it.
func TestGolden(t *testing.T) {
	goldentest.Run(t, "testdata/golden", func(t *testing.T, c goldentest.Case) string {
		env, out, text := surroundings(t, c.Input)
		switch c.Command {
		case "filter":
			env.Place = "FILTER WHERE"
			e, found := typed.CheckFilter(expression(t, text), env)
			return result(text, exprText(e), found)
		case "text":
			env.Place = "PATH"
			e, found := typed.CheckText(expression(t, text), out, env)
			return result(text, exprText(e), found)
		case "construct":
			head := routeHead + "TO r "
			env.Span = vocab.Span{Start: len(head) - 2, End: len(head) - 1}
			text = head + strings.TrimSuffix(text, "\n")
			r := route(t, text+" FLUSH IMMEDIATE ON MESSAGE ERROR LOG")
			k, found := typed.CheckConstruction(r.Construction, out, env)
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

func surroundings(t *testing.T, input string) (env typed.Env, out *vocab.Schema, text string) {
	env.Place = "junction"
	for line := range strings.Lines(input) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "input":
			env.Input = schema(t, rest)
		case "output":
			out = schema(t, rest)
		case "partial":
			env.Partial = schema(t, rest)
		case "metadata":
			env.Metadata = schema(t, rest).Fields
		case "headers":
			env.Headers = true
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
	typed.OpCast: "cast", typed.OpTryCast: "try-cast", typed.OpCase: "case", typed.OpCaseValue: "case-value", typed.OpCall: ""}

var scopeWords = [...]string{typed.ScopeInput: "input", typed.ScopeOutput: "output", typed.ScopeError: "error",
	typed.ScopePartialOutput: "partial_output", typed.ScopeMetadata: "metadata"}

func treeText(e *typed.Expr) string {
	switch e.Op {
	case typed.OpLiteral:
		return literalText(e.Literal, e.Type.Kind)
	case typed.OpColumn:
		return fmt.Sprintf("%s.%s", scopeWords[e.Column.Scope], e.Column.Name)
	}
	parts := []string{opWords[e.Op] + e.Func}
	if e.Negated {
		parts[0] = "not-" + parts[0]
	}
	for _, a := range e.Args {
		parts = append(parts, treeText(a))
	}
	for _, l := range e.Set {
		parts = append(parts, literalText(l, e.Args[0].Type.Kind))
	}
	if e.Op == typed.OpCast || e.Op == typed.OpTryCast {
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
