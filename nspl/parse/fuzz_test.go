package parse_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// seeds adds the inputs of the golden files that run under a command.
func seeds(f *testing.F, command string) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(data), "\n\n") {
			head, _, _ := strings.Cut(part, "\n----\n")
			if input, ok := strings.CutPrefix(head, command+"\n"); ok {
				f.Add(input)
			}
		}
	}
}

// FuzzStatement is P1 to P3, and R1 for whatever the models accept.
func FuzzStatement(f *testing.F) {
	seeds(f, "parse")
	seeds(f, "alter")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parse.Statements(text)
		if err != nil {
			checkDiagnostic(t, text, err)
			return
		}
		for _, s := range all {
			checkSpans(t, text, reflect.ValueOf(s))
			checkRendered(t, s)
			d, ok := s.(ast.Declaration)
			if !ok {
				continue
			}
			e, found := model.Lower(d)
			for _, one := range found {
				checkDiagnostic(t, text, one)
			}
			if found != nil {
				continue
			}
			canonical := render.Entity(e)
			again, err := model.Parse(canonical)
			if err != nil || !model.Equal(e, again) {
				t.Fatalf("%q renders as %q, which reads back differently (%v)", text, canonical, err)
			}
		}
	})
}

// checkRendered is R3.
func checkRendered(t *testing.T, s ast.Statement) {
	canonical := render.Statement(s)
	if canonical == "" {
		return
	}
	again, err := parse.Statement(canonical)
	// Canonical text writes out the defaults of a source.
	_, alters := s.(*ast.AlterNode)
	if err != nil || !alters && !ast.Equal(s, again) || render.Statement(again) != canonical {
		t.Fatalf("%q reads back differently (%v)", canonical, err)
	}
}

// FuzzExpression is P1 to P3, and R1 for every expression.
func FuzzExpression(f *testing.F) {
	seeds(f, "expr")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse.Expression(text)
		if err != nil {
			checkDiagnostic(t, text, err)
			return
		}
		checkSpans(t, text, reflect.ValueOf(e))
		canonical := render.Expr(e)
		again, err := parse.Expression(canonical)
		if err != nil || !ast.Equal(e, again) {
			t.Fatalf("%q renders as %q, which reads back differently (%v)", text, canonical, err)
		}
	})
}

func checkDiagnostic(t *testing.T, text string, err error) {
	var d *ast.Diagnostic
	if !errors.As(err, &d) || d.Code == "" || d.Message == "" {
		t.Fatalf("%v is no complete diagnostic", err)
	}
	checkSpan(t, text, d.Span)
	if d.Explain(text) == "" {
		t.Fatal("nothing to show")
	}
}

func checkSpan(t *testing.T, text string, s vocab.Span) {
	if s.Start < 0 || s.End < s.Start || s.End > len(text) {
		t.Fatalf("span %v lies outside of %d bytes", s, len(text))
	}
}

// checkSpans visits every span of a tree.
func checkSpans(t *testing.T, text string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkSpans(t, text, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkSpans(t, text, v.Index(i))
		}
	case reflect.Struct:
		if s, ok := v.Interface().(vocab.Span); ok {
			checkSpan(t, text, s)
			return
		}
		for i := range v.NumField() {
			checkSpans(t, text, v.Field(i))
		}
	}
}
