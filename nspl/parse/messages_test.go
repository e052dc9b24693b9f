package parse_test

import (
	goast "go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// raising are the functions whose string is a message to the user.
var raising = map[string]bool{"invalid": true, "Errorf": true, "refuse": true, "fault": true}

// TestMessagesHaveCases: every message that the parser and the models raise is seen
// in a golden case or at a bound, so that every rule has a refused case.
func TestMessagesHaveCases(t *testing.T) {
	seen := seenMessages(t)
	checked := 0
	for _, dir := range []string{".", "../model"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, format := range messages(t, file) {
				checked++
				if !matching(format).MatchString(seen) {
					t.Errorf("%s: no case is told %q", file, format)
				}
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d messages found", checked)
	}
}

// seenMessages is all that the golden cases and the bounds say. Messages about a
// whole text cannot stand in a case.
func seenMessages(t *testing.T) string {
	var b strings.Builder
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden cases")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "error") {
				b.WriteString(line)
			}
		}
	}
	for _, c := range bounds {
		b.WriteString(c.fault + "\n")
	}
	return b.String() + "invalid UTF-8\nseveral statements need BEGIN … COMMIT\nthe text declares no entity\n"
}

// messages returns the formats of the messages that a file raises.
func messages(t *testing.T, file string) (formats []string) {
	tree, err := goparser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	goast.Inspect(tree, func(n goast.Node) bool {
		call, ok := n.(*goast.CallExpr)
		if !ok || !raising[called(call)] {
			return true
		}
		for _, arg := range call.Args {
			lit, ok := arg.(*goast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				continue
			}
			if format, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(format, " ") {
				formats = append(formats, format)
			}
			break
		}
		return true
	})
	return formats
}

func called(call *goast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *goast.Ident:
		return f.Name
	case *goast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// matching returns an expression that matches what a format makes.
func matching(format string) *regexp.Regexp {
	verb := regexp.MustCompile(`%[a-z]`)
	return regexp.MustCompile(verb.ReplaceAllString(regexp.QuoteMeta(strings.ReplaceAll(format, "%%", "%")), ".*"))
}
