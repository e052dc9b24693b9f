package render_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

// TestEntityReadsBack is R1 and R2 over every kind.
func TestEntityReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := generator{t}.entity()
		text := render.Entity(m)
		again, err := model.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !model.Equal(m, again) {
			t.Fatalf("reads back as another model:\n%s\n%s\n%#v\n%#v", text, render.Entity(again), m, again)
		}
		if twice := render.Entity(again); twice != text {
			t.Fatalf("renders differently the second time:\n%s\n%s", text, twice)
		}
	})
}

// TestStatementReadsBack is R3.
func TestStatementReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := generator{t}.statement()
		text := render.Statement(s)
		again, err := parse.Statement(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !ast.Equal(s, again) {
			t.Fatalf("reads back as another tree:\n%s\n%s", text, render.Statement(again))
		}
	})
}

// TestExpressionReadsBack is R1 and R2 for expressions of every form.
func TestExpressionReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := generator{t}.expr(5)
		text := render.Expr(e)
		again, err := parse.Expression(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !ast.Equal(e, again) {
			t.Fatalf("reads back as another tree:\n%s\n%s", text, render.Expr(again))
		}
	})
}

// TestParenthesesAreMinimal removes each pair in turn: the tree must change.
func TestParenthesesAreMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, z := &ast.Field{Name: ast.Name{Text: "x"}}, &ast.Field{Name: ast.Name{Text: "y"}}, &ast.Field{Name: ast.Name{Text: "z"}}
		op := func() ast.BinaryOp { return ast.BinaryOp(generator{t}.int(int(ast.Rem))) }
		inner := &ast.Binary{Op: op(), X: x, Y: y}
		e := &ast.Binary{Op: op(), X: inner, Y: z}
		if (generator{t}).bool() {
			e.X, e.Y = z, inner
		}
		text := render.Expr(e)
		if !strings.Contains(text, "(") {
			return
		}
		bare, err := parse.Expression(strings.NewReplacer("(", "", ")", "").Replace(text))
		if err == nil && ast.Equal(e, bare) {
			t.Fatalf("%s needs no parentheses", text)
		}
	})
}

// TestPasswordsAreNotWritten: what holds a password has no canonical text.
func TestPasswordsAreNotWritten(t *testing.T) {
	for _, s := range []ast.Statement{&ast.CreateUser{Password: ast.Text{Text: "secret words"}}, &ast.AlterUser{Password: ast.Text{Text: "secret words"}}} {
		if text := render.Statement(s); text != "" {
			t.Errorf("%T is written as %q", s, text)
		}
	}
}
