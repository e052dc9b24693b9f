package typed_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/typed"
)

// manual returns the first cells of the tables of a page that call something, by
// name, with the cell that says what is particular.
func manual(t *testing.T, page string) (names []string, notes map[string]string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "manual", "nspl", page))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z0-9_]+)\\([^`]*\\)` \\| [^|]*\\|(.*)\\|$")
	notes = map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := strings.ToLower(m[1])
		names = append(names, name)
		notes[name] = m[2]
	}
	return names, notes
}

// TestFunctionsAreDocumented: the manual lists exactly the builtins, in the same
// order, and says which of them do not run yet; the parser gives each the name it
// is known by here.
func TestFunctionsAreDocumented(t *testing.T) {
	names, notes := manual(t, "functions.md")
	if !slices.Equal(names, typed.Functions()) {
		t.Errorf("the manual lists\n%v\nthe functions are\n%v", names, typed.Functions())
	}
	for _, name := range typed.Functions() {
		if typed.Runs(name) == strings.Contains(notes[name], "*later*") {
			t.Errorf("%s runs: %v, the manual says %s", name, typed.Runs(name), notes[name])
		}
		if ast.CanonicalFunction(name) != name {
			t.Errorf("the parser calls %s %s", name, ast.CanonicalFunction(name))
		}
	}
	for _, alias := range []string{"btrim", "char_length", "substring", "ceiling", "power"} {
		if typed.Signature(ast.CanonicalFunction(alias)) == "" {
			t.Errorf("%s leads nowhere", alias)
		}
	}
}

// TestAggregatesAreDocumented: the manual lists exactly the aggregates, in the same
// order.
func TestAggregatesAreDocumented(t *testing.T) {
	if names, _ := manual(t, "aggregates.md"); !slices.Equal(names, typed.Aggregates()) {
		t.Errorf("the manual lists\n%v\nthe aggregates are\n%v", names, typed.Aggregates())
	}
	for _, name := range typed.Aggregates() {
		if !ast.Aggregate(name, true) || ast.Aggregate(name, false) == (typed.Signature(name) != "") {
			t.Errorf("the renderer takes %s for something else", name)
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
