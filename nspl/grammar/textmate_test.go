package grammar_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plexus/nspl/grammar"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// textMate is the grammar for editors. It cannot tell where a word is a keyword, so
// it takes every keyword for one that is written in upper case.
func textMate() any {
	scalar, _ := grammar.Find("scalar")
	var types, keywords []string
	for _, p := range scalar.Body.Parts {
		types = append(types, p.Text)
	}
	types = append(types, "ARRAY", "VEC")
	for _, w := range grammar.Words() {
		if !slices.Contains(types, w) {
			keywords = append(keywords, w)
		}
	}
	words := func(list []string) string { return `\b(` + strings.Join(list, "|") + `)\b` }
	return struct {
		Schema    string    `json:"$schema"`
		Name      string    `json:"name"`
		ScopeName string    `json:"scopeName"`
		FileTypes []string  `json:"fileTypes"`
		Patterns  []pattern `json:"patterns"`
	}{
		"https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json", "NSPL", "source.nspl", []string{"nspl"},
		[]pattern{
			{Name: "comment.line.double-slash.nspl", Match: "//.*$"},
			{Name: "string.quoted.single.nspl", Match: `'[^'\r\n]*'`},
			{Name: "string.quoted.double.nspl", Match: `"[^"\r\n]*"`},
			{Name: "string.quoted.other.nspl", Begin: `(\$[A-Za-z0-9_]*\$)`, End: `\1`},
			{Name: "variable.other.quoted.nspl", Match: "`[A-Za-z0-9_.~-]+`"},
			{Name: "constant.numeric.nspl", Match: `\b[0-9]+(\.[0-9]+)?([a-zA-Z]+[0-9]*)*\b`},
			{Name: "support.type.nspl", Match: words(types)},
			{Name: "support.function.nspl", Match: words(aggregates()) + `(?=\()`},
			{Name: "keyword.other.nspl", Match: words(keywords)},
			{Name: "support.function.nspl", Match: `\b[A-Za-z_][A-Za-z0-9_]*(?=\()`},
			{Name: "support.type.nspl", Match: words(wireTypes()) + `(?=\s*(OPTIONAL\s*)?[,)])`},
			{Name: "keyword.operator.nspl", Match: "!=|>=|<=|::|[-+*/%=<>]"},
		},
	}
}

// TestTextMate keeps the grammar for editors equal to the keywords.
func TestTextMate(t *testing.T) {
	const file = "../../docs/editors/nspl.tmLanguage.json"
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(textMate()); err != nil {
		t.Fatal(err)
	}
	if update() {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not that of grammar.ebnf; run this test with -update (%v)", file, err)
	}
}

// aggregates are written in upper case.
func aggregates() (list []string) {
	for _, name := range typed.Aggregates() {
		list = append(list, strings.ToUpper(name))
	}
	return list
}

// wireTypes are those that are written in lower case.
func wireTypes() (list []string) {
	for _, t := range vocab.WireJSON.Types() {
		list = append(list, t.String())
	}
	return list
}

// colours tells as an editor does what the scope of each place of a line is: the
// pattern that matches first, and of those at one place the one that stands first.
func colours(t *testing.T, text string) []string {
	t.Helper()
	data, err := os.ReadFile("../../docs/editors/nspl.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Patterns []pattern }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	scopes := make([]string, len(text))
	for at := 0; at < len(text); {
		start, end, name := len(text), len(text), ""
		for _, p := range file.Patterns {
			from, to, ok := find(p, text, at)
			if ok && from < start {
				start, end, name = from, to, p.Name
			}
		}
		for i := start; i < end; i++ {
			scopes[i] = name
		}
		at = max(end, at+1)
	}
	return scopes
}

var compiled = map[string]*regexp.Regexp{}

// find looks for a pattern from a place on. What RE2 does not have, a look ahead, is a
// group at the end here.
func find(p pattern, text string, at int) (from, to int, ok bool) {
	if p.Match == "" {
		return 0, 0, false
	}
	body, ahead, looks := strings.Cut(p.Match, "(?=")
	expression := "(" + body + ")"
	if looks {
		expression += strings.TrimSuffix(ahead, ")")
	}
	if compiled[expression] == nil {
		compiled[expression] = regexp.MustCompile(expression)
	}
	for _, m := range compiled[expression].FindAllStringSubmatchIndex(text, -1) {
		if m[2] >= at {
			return m[2], m[3], true
		}
	}
	return 0, 0, false
}

// Every keyword, type, kind, connector, function and aggregate of the vocabulary has a
// colour.
func TestColours(t *testing.T) {
	check := func(text, word, scope string) {
		t.Helper()
		at := strings.Index(text, word)
		scopes := colours(t, text)
		for i := at; i < at+len(word); i++ {
			if word[i-at] != ' ' && !strings.HasPrefix(scopes[i], scope) {
				t.Errorf("%q: %s is %q, not %s", text, word, scopes[i], scope)
				return
			}
		}
	}
	keyword := func(word string) { t.Helper(); check("x "+word+" y", word, "keyword.other") }
	for _, w := range grammar.Words() {
		if _, isType := slices.BinarySearch(slices.Sorted(slices.Values(typeWords())), w); !isType {
			keyword(w)
		}
	}
	for _, w := range typeWords() {
		check("f "+w+" OPTIONAL", w, "support.type")
	}
	for _, k := range vocab.EntityKinds() {
		keyword(k.String())
	}
	for _, c := range vocab.ClientTypes() {
		keyword(c.String())
	}
	for _, e := range vocab.SourceEntities() {
		keyword(e.String())
	}
	for _, e := range vocab.SinkEntities() {
		keyword(e.String())
	}
	for _, f := range vocab.CodecFormats() {
		keyword(f.String())
	}
	for _, f := range vocab.SignalingFormats() {
		keyword(f.String())
	}
	for _, name := range typed.Functions() {
		check("SET x = "+name+"(a)", name, "support.function")
	}
	for _, name := range aggregates() {
		check("SET x = "+name+"(a)", name, "support.function")
		check("SET x = "+strings.ToLower(name)+"(a)", strings.ToLower(name), "support.function")
	}
	check("SET x = udf::band(a)", "band", "support.function")
	for _, w := range wireTypes() {
		check("(id "+w+" OPTIONAL, x "+w+")", w, "support.type")
	}
	for _, w := range vocab.WireAvro.Types() {
		if colour := colours(t, "(id "+w.String()+")")[4]; colour == "" {
			t.Errorf("%s has no colour", w)
		}
	}
	check("'a CREATE b'", "CREATE", "string")
	check("x // a CREATE b", "CREATE", "comment")
	check("`create`", "create", "variable")
	check("FLUSH EACH 250ms", "250ms", "constant.numeric")
}

func typeWords() (list []string) {
	for k := vocab.U8; k <= vocab.Vec; k++ {
		list = append(list, k.String())
	}
	return list
}
