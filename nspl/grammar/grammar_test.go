package grammar_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plexus/nspl/grammar"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/parse"
)

// tokens has examples of the names that the lexer and the values of the parser
// stand for.
var tokens = map[string][]string{
	"name": {"orders", "a", "`by-site`"}, "domain": {"shop"}, "field_name": {"amount", "id", "`set`"}, "target": {"amount", "`set`"},
	"string": {"'text'", `"it's"`, "$$a b$$"}, "uint": {"1", "3"}, "length": {"2"}, "number": {"1", "0.5"}, "zero": {"0"}, "one": {"1"}, "qos": {"0", "1"},
	"duration": {"5s", "250ms"}, "bytes": {"1MiB"}, "external": {"meters.raw", "'a b'"}, "hostname": {"in.example.org"}, "node": {"n1", "'n-2'"},
	"timestamp": {"'2026-01-01T00:00:00Z'"}, "rate": {"2"}, "word": {"word"}, "function": {"coalesce"}, "write_header": {"write_header"},
	"udf_code": {"'RETURN 1;'"}, "udf_tests": {"$$TEST 'a' { CASE (1) FAILS; }$$"}, "json_path": {"'$.a'"},
}

// writer draws sentences.
type writer struct {
	goldentest.Random
	depth int
	words []string
}

// deep is from which depth on the writer takes the shortest way out.
const deep = 14

func (w *writer) write(t *testing.T, p *grammar.Part) {
	w.depth++
	defer func() { w.depth-- }()
	switch p.Op {
	case grammar.Word, grammar.Mark:
		w.words = append(w.words, p.Text)
	case grammar.Name:
		if r, ok := grammar.Find(p.Text); ok {
			if strings.HasSuffix(p.Text, "_head") && p.Text != "udf_head" {
				return // it is the one of the body, which the grammar cannot say
			}
			if p.Text == "expr" && w.depth > deep {
				w.words = append(w.words, "amount")
				return
			}
			w.write(t, r.Body)
			return
		}
		list := tokens[p.Text]
		if len(list) == 0 {
			t.Fatalf("%s is no rule and no token", p.Text)
		}
		w.words = append(w.words, list[w.IntN(len(list))])
	case grammar.Sequence:
		for _, part := range p.Parts {
			w.write(t, part)
		}
	case grammar.Choice:
		n := len(p.Parts)
		if w.depth > deep+6 {
			n = 1
		}
		w.write(t, p.Parts[w.IntN(n)])
	case grammar.Optional:
		if w.IntN(2) == 0 && w.depth < deep {
			w.write(t, p.Parts[0])
		}
	case grammar.Many:
		for w.IntN(3) == 0 && w.depth < deep {
			w.write(t, p.Parts[0])
		}
	default:
		w.write(t, p.Parts[0])
		for w.IntN(3) == 0 && w.depth < deep {
			if p.Op != grammar.Some {
				w.words = append(w.words, ",")
			}
			w.write(t, p.Parts[0])
		}
		if p.Op == grammar.Trailing && w.IntN(4) == 0 {
			w.words = append(w.words, ",")
		}
	}
}

// TestSentences parses sentences of every statement.
func TestSentences(t *testing.T) {
	statement, _ := grammar.Find("statement")
	for i, p := range statement.Body.Parts {
		w := &writer{Random: goldentest.Random(i)}
		for range 150 {
			w.words = nil
			w.write(t, p)
			sentence := strings.Join(w.words, " ")
			if _, err := parse.Statement(sentence); err != nil && !strings.Contains(err.Error(), "listed twice") {
				t.Errorf("%s: %q: %v", p.Text, sentence, err)
				break
			}
		}
	}
}

// phrases returns the keywords that the parser tries anywhere in what its golden
// cases hold.
func phrases(t *testing.T) []string {
	files, err := filepath.Glob("../parse/testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden cases")
	}
	var words []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range goldentest.Cases(t, file, string(data)) {
			if c.Command != "parse" {
				continue
			}
			for _, token := range parse.Tokens(c.Input) {
				start, _ := parse.Tail(c.Input[:token.Span.Start])
				for _, e := range parse.Expected(c.Input[min(start, token.Span.Start):token.Span.Start]).Expected {
					if e.Class == parse.ClassKeyword || e.Class == parse.ClassOperator {
						words = append(words, strings.Fields(e.Text)...)
					}
				}
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// TestWords looks for every keyword of the parser in the grammar.
func TestWords(t *testing.T) {
	known := grammar.Words()
	for _, word := range phrases(t) {
		if word[0] < 'A' || word[0] > 'Z' {
			continue // a mark, or write_header
		}
		if _, ok := slices.BinarySearch(known, word); !ok {
			t.Errorf("the parser takes %s, which grammar.ebnf does not have", word)
		}
	}
}

// TestRules finds every rule used, and every name known.
func TestRules(t *testing.T) {
	used := map[string]bool{"statement": true}
	var walk func(p *grammar.Part)
	walk = func(p *grammar.Part) {
		if p.Op == grammar.Name {
			used[p.Text] = true
			if _, ok := grammar.Find(p.Text); !ok && tokens[p.Text] == nil {
				t.Errorf("%s is no rule and no token", p.Text)
			}
		}
		for _, part := range p.Parts {
			walk(part)
		}
	}
	for _, r := range grammar.Rules() {
		walk(r.Body)
	}
	for _, r := range grammar.Rules() {
		if !used[r.Name] {
			t.Errorf("nothing uses %s", r.Name)
		}
	}
}

func TestForms(t *testing.T) {
	for words, want := range map[string]string{ //plexus:orderfree independent cases
		"create relay": "create_relay", "CREATE JUNC": "create_junction", "create attached junction": "create_junction", "start": "start",
		"alter domain": "alter_domain", "drop relay": "drop", "create_relay": "create_relay", "window": "", "": "", "relay": "",
	} {
		var names []string
		for _, r := range grammar.Forms(words) {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", words, got)
		}
	}
	r, _ := grammar.Find("create_relay")
	if form := grammar.Form(r); !strings.Contains(form, "CAPACITY uint") || !strings.Contains(form, "branch_use ") {
		t.Error(form)
	}
}

// update says that the files which show the grammar are to be written.
func update() bool {
	f := flag.Lookup("update") // of the golden tests
	return f != nil && f.Value.String() == "true"
}

// TestManual keeps the appendix of the manual equal to the grammar.
func TestManual(t *testing.T) {
	const file = "../../docs/manual/nspl/grammar.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(page), "```ebnf\n")
	want := head + "```ebnf\n" + grammar.Text() + "```\n"
	switch {
	case !found:
		t.Error("the page has no block of the grammar")
	case update():
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(page) != want:
		t.Errorf("%s does not show grammar.ebnf as it is; run this test with -update", file)
	}
}

// pattern is a part of a TextMate grammar.
type pattern struct {
	Name     string             `json:"name,omitempty"`
	Match    string             `json:"match,omitempty"`
	Begin    string             `json:"begin,omitempty"`
	End      string             `json:"end,omitempty"`
	Include  string             `json:"include,omitempty"`
	Captures map[string]pattern `json:"captures,omitempty"`
}
