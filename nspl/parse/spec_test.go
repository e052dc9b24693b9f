package parse_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

// TestSpec parses the statements of the specification, and renders them to what
// means the same.
func TestSpec(t *testing.T) {
	files, err := filepath.Glob("testdata/spec/*.nspl")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files of the specification (%v)", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		all, err := parse.Statements(text)
		if err != nil {
			var d *ast.Diagnostic
			errors.As(err, &d)
			t.Errorf("%s: %s", file, d.Explain(text))
			continue
		}
		if len(all) == 0 {
			t.Errorf("%s holds no statement", file)
		}
		for _, s := range all {
			checkSpec(t, file, text, s)
		}
	}
}

func checkSpec(t *testing.T, file, text string, s ast.Statement) {
	d, declares := s.(ast.Declaration)
	if !declares {
		if found := checked(s); found != nil {
			t.Errorf("%s: %s", file, found.Explain(text))
		}
		checkRendered(t, s)
		return
	}
	e, found := model.Lower(d)
	if found != nil {
		t.Errorf("%s: %s", file, found.Explain(text))
		return
	}
	again, err := model.Parse(render.Entity(e))
	if err != nil || !model.Equal(e, again) {
		t.Errorf("%s: %s reads back differently (%v)", file, render.Entity(e), err)
	}
}

// TestSpecExpressions does the same for its expressions.
func TestSpecExpressions(t *testing.T) {
	data, err := os.ReadFile("testdata/spec/11-expressions")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "//") {
			continue
		}
		checked++
		e, err := parse.Expression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if again, err := parse.Expression(render.Expr(e)); err != nil || !ast.Equal(e, again) {
			t.Errorf("%s renders as %s, which reads back differently (%v)", text, render.Expr(e), err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d expressions", checked)
	}
}
