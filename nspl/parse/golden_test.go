package parse_test

import (
	"errors"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

// TestGolden parses, lowers and renders. A declaration prints its canonical form,
// which must parse back to the same model; other statements print their canonical
// form where they have one, or else their tree.
func TestGolden(t *testing.T) {
	goldentest.Run(t, "testdata/golden", func(t *testing.T, c goldentest.Case) string {
		switch c.Command {
		case "parse":
			return parseCase(t, c.Input)
		case "alter":
			return alterCase(t, c.Input)
		case "expr":
			e, err := parse.Expression(c.Input)
			if err != nil {
				return explain(t, err, c.Input)
			}
			text := render.Expr(e)
			again, err := parse.Expression(text)
			if err != nil || !ast.Equal(e, again) {
				t.Errorf("%s does not read back: %v", text, err)
			}
			return text + "\n"
		}
		t.Fatalf("unknown command %q", c.Command)
		return ""
	})
}

func parseCase(t *testing.T, input string) string {
	all, err := parse.Statements(input)
	if err != nil {
		return explain(t, err, input)
	}
	var out strings.Builder
	for _, s := range all {
		d, ok := s.(ast.Declaration)
		if found := checked(s); found != nil {
			return explain(t, found, input)
		}
		if !ok {
			if text := render.Statement(s); text != "" {
				out.WriteString(text + "\n")
			} else {
				out.WriteString(treeText(s) + "\n")
			}
			checkRendered(t, s)
			continue
		}
		e, found := model.Lower(d)
		if found != nil {
			return explain(t, found, input)
		}
		text := render.Entity(e)
		again, err := model.Parse(text)
		if err != nil || !model.Equal(e, again) {
			t.Errorf("%s does not read back: %v", text, err)
		}
		out.WriteString(text + "\n")
	}
	return out.String()
}

// alterCase prints what an ALTER makes of the declaration before it, behind the
// canonical form of the ALTER where that is not as it was written.
func alterCase(t *testing.T, input string) string {
	all, err := parse.Statements(input)
	if err != nil {
		return explain(t, err, input)
	}
	e, found := model.Lower(all[0].(ast.Declaration))
	if found != nil {
		return explain(t, found, input)
	}
	var out strings.Builder
	for _, s := range all[1:] {
		checkRendered(t, s)
		if text, place := render.Statement(s), s.Place(); text != input[place.Start:place.End]+";" {
			out.WriteString(text + "\n")
		}
		if e, found = model.Alter(e, s.(ast.Alteration)); found != nil {
			return out.String() + explain(t, found, input)
		}
	}
	text := render.Entity(e)
	again, err := model.Parse(text)
	if err != nil || !model.Equal(e, again) {
		t.Errorf("%s does not read back: %v", text, err)
	}
	return out.String() + text + "\n"
}

func explain(t *testing.T, err error, text string) string {
	var one *ast.Diagnostic
	var all ast.Diagnostics
	switch {
	case errors.As(err, &all):
		return all.Explain(text)
	case errors.As(err, &one):
		return one.Explain(text)
	}
	t.Fatalf("%v is no diagnostic", err)
	return ""
}
