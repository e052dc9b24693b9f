package format_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/format"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/parse"
)

func TestGolden(t *testing.T) {
	goldentest.Run(t, "testdata/golden", func(t *testing.T, c goldentest.Case) string {
		out, err := format.Text(strings.ReplaceAll(c.Input, "¶", ""))
		var d *ast.Diagnostic
		if errors.As(err, &d) {
			return d.Explain(c.Input)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Input, err)
		}
		checkFormatted(t, out)
		// Blank lines end a case, so they are shown.
		return strings.ReplaceAll(out, "\n\n", "\n¶\n")
	})
}

// failing is what both tests and properties have.
type failing interface {
	Helper()
	Fatalf(string, ...any)
}

// checkFormatted is F2.
func checkFormatted(t failing, out string) {
	t.Helper()
	again, err := format.Text(out)
	if err != nil || again != out {
		t.Fatalf("formatting again gives (%v)\n%s\ninstead of\n%s", err, again, out)
	}
}

// accepted returns the texts of the parser's golden cases that parse.
func accepted(t testing.TB) (texts []string) {
	files, err := filepath.Glob("../parse/testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden cases")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range goldentest.Cases(t, file, string(data)) {
			if _, err := parse.Statements(c.Input); err == nil && c.Command == "parse" {
				texts = append(texts, strings.TrimPrefix(c.Input, "\uFEFF"))
			}
		}
	}
	return texts
}

// TestFormat is the law nspl-format over scripts of accepted statements with
// comments and white space between and inside of them.
func TestFormat(t *testing.T) {
	texts := accepted(t)
	gaps := rapid.SampledFrom([]string{"\n", "\n\n\n", " ", "// why\n", "\n// one\n// two\n\n", " // behind\n", "\n\n\t// a; b 'c\r\n", ";;"})
	rapid.Check(t, func(t *rapid.T) {
		var script strings.Builder
		comments := 0
		for range rapid.IntRange(0, 4).Draw(t, "statements") {
			gap := gaps.Draw(t, "gap")
			script.WriteString(gap)
			text := strings.TrimRight(rapid.SampledFrom(texts).Draw(t, "text"), "; \n")
			comments += strings.Count(gap, "//")
			if spans := parse.Tokens(text); len(spans) > 2 && rapid.IntRange(0, 3).Draw(t, "comment inside") == 0 {
				at := spans[1].Span.Start // behind the first word
				text = text[:at] + "// inside\n" + text[at:]
				comments++
			}
			script.WriteString(text + "\n;")
		}
		gap := gaps.Draw(t, "end")
		script.WriteString(gap)
		comments += strings.Count(gap, "//")
		out, err := format.Text(script.String())
		if err != nil {
			t.Fatalf("%q: %v", script.String(), err)
		}
		checkFormatted(t, out)
		found := 0
		for _, token := range parse.Tokens(out) {
			if token.Role == parse.RoleComment {
				found++
			}
		}
		if base := strings.Count(script.String(), "//"); found < comments && base == comments {
			t.Fatalf("%d of %d comments are left:\n%s", found, comments, out)
		}
	})
}

// FuzzFormat formats any text: it is refused with a diagnostic, or keeps its
// statements.
func FuzzFormat(f *testing.F) {
	for _, text := range accepted(f) {
		f.Add(text)
	}
	f.Add("// only a comment")
	f.Add("USE a; // x\n// y\n\nBEGIN")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := format.Text(text)
		var d *ast.Diagnostic
		if errors.As(err, &d) {
			if d.Span.Start < 0 || d.Span.End > len(text) {
				t.Fatalf("span %v lies outside of %d bytes", d.Span, len(text))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkFormatted(t, out)
	})
}
