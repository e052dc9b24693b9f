package typed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/typed"
)

// TestFunctionsAreDocumented: the manual names every builtin, and the parser
// gives each the name it is known by here.
func TestFunctionsAreDocumented(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "manual", "nspl", "functions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range typed.Functions() {
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("%s is not in the manual", name)
		}
		if ast.CanonicalFunction(name) != name {
			t.Errorf("the parser calls %s %s", name, ast.CanonicalFunction(name))
		}
	}
	for _, alias := range []string{"btrim", "char_length", "substring", "ceiling"} {
		if typed.Signature(ast.CanonicalFunction(alias)) == "" {
			t.Errorf("%s leads nowhere", alias)
		}
	}
}

func TestSignatures(t *testing.T) {
	for name, want := range map[string]string{ //plexus:orderfree independent cases
		"now":      "now()",
		"round":    "round(number, [integer])",
		"coalesce": "coalesce(value, [same type], …)",
		"clamp":    "clamp(number, STRING or DATETIME, same type, same type)",
		"nothing":  "",
	} {
		if got := typed.Signature(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
