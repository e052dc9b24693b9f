package render_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// udf draws a function: its code is written from the body that it must read as.
func (g generator) udf() *model.UDF {
	u := &model.UDF{
		Name: g.own(), Language: vocab.UDFLanguage(g.int(1)), Returns: ast.Type{Type: g.typ(2)}, Optional: g.bool(), Volatile: g.bool(),
	}
	names := g.distinct(4)
	for _, n := range names[:1+g.int(len(names)-1)] {
		u.Params = append(u.Params, ast.UDFParam{Name: n, Type: ast.Type{Type: g.typ(2)}, Optional: g.bool()})
	}
	if u.Language == vocab.UDFWASM1 {
		u.Binding = &ast.Binding{Resource: g.name(), Version: ast.ResourceVersion{Number: g.uint(9)}}
		u.File, u.Export, u.MaxFuel, u.MaxMemory = "f"+g.text(), "e"+g.text(), g.uint(1<<40).Value, g.memory()
		if g.bool() {
			text := g.udfTests(u)
			u.TestText = &text
		}
		return u
	}
	var code strings.Builder
	u.Body = &ast.UDFBody{}
	for _, n := range names[len(u.Params):] {
		step := ast.UDFStep{Name: n, Value: g.expr(2)}
		fmt.Fprintf(&code, "LET `%s` = %s;\n", n.Text, render.Expr(step.Value))
		u.Body.Steps = append(u.Body.Steps, step)
	}
	if g.bool() {
		step := ast.UDFStep{Reject: true, Value: g.expr(2)}
		fmt.Fprintf(&code, "REJECT WHEN %s", render.Expr(step.Value))
		if g.bool() {
			step.Message = &ast.Text{Text: "no"}
			code.WriteString(" MESSAGE 'no'")
		}
		code.WriteString(";")
		u.Body.Steps = append(u.Body.Steps, step)
	}
	u.Body.Return = g.expr(2)
	fmt.Fprintf(&code, "RETURN %s;", render.Expr(u.Body.Return))
	code.WriteString(g.udfTests(u))
	u.Body.Tests, u.Code = u.Tests, code.String()
	return u
}

func (g generator) memory() ast.Size {
	kib := 64 + uint64(g.int(1000))
	return ast.Size{Size: vocab.Size{Bytes: kib << 10, Text: fmt.Sprintf("%dKiB", kib)}}
}

// udfTests draws tests of a function and returns their text.
func (g generator) udfTests(u *model.UDF) string {
	var text strings.Builder
	for range g.int(2) {
		t := ast.UDFTest{Name: ast.Text{Text: "t"}}
		text.WriteString(" TEST 't' {")
		for range 1 + g.int(1) {
			c := ast.UDFCase{}
			for range u.Params {
				c.Args = append(c.Args, g.leafConstant())
			}
			if g.bool() {
				c.Returns = g.leafConstant()
			} else if g.bool() {
				c.Fails = &ast.Text{Text: "overflow"}
			}
			writeCase(&text, c)
			t.Cases = append(t.Cases, c)
		}
		text.WriteString("}")
		u.Tests = append(u.Tests, t)
	}
	return text.String()
}

func writeCase(text *strings.Builder, c ast.UDFCase) {
	args := make([]string, len(c.Args))
	for i := range c.Args {
		args[i] = render.Expr(c.Args[i])
	}
	fmt.Fprintf(text, " CASE (%s) ", strings.Join(args, ", "))
	switch {
	case c.Returns != nil:
		text.WriteString("RETURNS " + render.Expr(c.Returns))
	case c.Fails != nil:
		text.WriteString("FAILS '" + c.Fails.Text + "'")
	default:
		text.WriteString("FAILS")
	}
	text.WriteString(";")
}

func (g generator) leafConstant() ast.Expr {
	switch g.int(3) {
	case 0:
		return &ast.NullLit{}
	case 1:
		return &ast.List{Items: []ast.Expr{&ast.IntLit{Value: int64(g.int(9))}}}
	case 2:
		return &ast.Cast{X: &ast.StringLit{Value: "1"}, Type: ast.Type{Type: g.scalarType()}}
	}
	return &ast.FloatLit{Value: 0.5}
}

// jsonPath draws a path.
func (g generator) jsonPath() string {
	path := "$"
	for range g.int(3) {
		switch g.int(2) {
		case 0:
			path += ".a"
		case 1:
			path += fmt.Sprintf("[%d]", g.int(99))
		default:
			name, _ := json.Marshal(g.text())
			path += "[" + string(name) + "]"
		}
	}
	return path
}
