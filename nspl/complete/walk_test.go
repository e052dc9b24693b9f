package complete_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/complete"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
)

// values has a value for each form of literal that the grammar asks for.
var values = map[string][]string{
	"string":        {"'text'", `"it's"`, "$$a\nb$$"},
	"number":        {"1", "0.5"},
	"word":          {"true"},
	"whole number":  {"1", "3"},
	"duration":      {"5s", "250ms"},
	"byte size":     {"1MiB", "64KiB"},
	"hostname":      {"in.example.org"},
	"external name": {"meters.raw", "orders", "'a b'"},
	"node name":     {"n1"},
	"timestamp":     {"'2026-01-01T00:00:00Z'"},
	"path":          {"'/tmp/x'"},
	"code":          {"'RETURN TRUE;'", "$$LET a = 1; REJECT WHEN a > 0; RETURN a;$$"},
	"tests":         {"$$TEST 'a' { CASE (1) FAILS; }$$"},
	"JSON path":     {"'$.a'", `'$["b"][0]'`},
}

// walker appends suggestions to a text.
type walker struct {
	goldentest.Random
	catalog complete.Catalog
	t       *testing.T
	taken   map[string]int // suggestions at the beginning of a statement, by what stands there
}

// stepsMax bounds a walk: beyond it the choices do not lead to an end.
const stepsMax = 3000

// headWords is up to how many words a walk takes what it took least often, so that
// walks come to all statements alike.
const headWords = 4

// walk appends suggestions until the text is one complete statement.
func (w *walker) walk() ast.Statement {
	text := ""
	for range stepsMax {
		result := complete.At(text, len(text), w.catalog)
		if len(result.Suggestions) == 0 {
			w.t.Fatalf("nothing can follow %q", text)
		}
		s := w.choose(text, result.Suggestions)
		written := s.Edit.Text
		if written == "" {
			written = w.value(s)
		}
		next := text[:s.Edit.Start] + written + text[s.Edit.End:]
		if !strings.HasSuffix(next, ".") && !strings.HasSuffix(next, "::") {
			next += " "
		}
		reads(w.t, text, next)
		text = next
		if s.Display == ";" {
			statement, err := parse.Statement(text)
			if err != nil {
				w.t.Fatalf("%q ended, but %v", text, err)
			}
			return statement
		}
	}
	w.t.Fatalf("no end after %d steps: %.2000s", stepsMax, text)
	return nil
}

// reads is S1.
func reads(t interface {
	Helper()
	Fatalf(string, ...any)
}, before, after string) {
	t.Helper()
	start, _ := parse.Tail(before)
	first, second := parse.Expected(before[start:]), parse.Expected(after[start:])
	if second.At < first.At || second.At == first.At && second.At < len(after)-start {
		t.Fatalf("%q reads to %d, %q to %d only (%v)", before, first.At, after, second.At, second.Fault)
	}
}

// choose prefers what ends the statement, the expression or the list: else a
// random walk through a recursive grammar hardly ever ends.
func (w *walker) choose(text string, list []complete.Suggestion) complete.Suggestion {
	var ends, plain []complete.Suggestion
	operators, or := false, false
	for _, s := range list {
		operators, or = operators || s.Display == "%", or || s.Display == "OR"
		switch {
		case s.Display == ";":
			ends = append(ends, s)
		case s.Kind == complete.KindField, s.Kind == complete.KindLiteral, s.Display == "TRUE", s.Display == "NULL":
			plain = append(plain, s)
		}
	}
	if operators {
		plain = nil
		for _, s := range list {
			if !operator(s.Display) || s.Display == "AND" && !or { // AND of BETWEEN
				plain = append(plain, s)
			}
		}
	}
	if at := slices.IndexFunc(list, func(s complete.Suggestion) bool { return s.Display == "CREATE" }); text == "" && at >= 0 && w.IntN(2) == 0 {
		return list[at] // which most statements begin with
	}
	if at := slices.IndexFunc(list, func(s complete.Suggestion) bool { return s.Display == "," }); operators && len(plain) == 0 && at >= 0 {
		plain = list[at : at+1] // nothing but a comma ends the expression
	}
	if strings.Count(text, " ") < headWords {
		s := slices.MinFunc(list, func(a, b complete.Suggestion) int { return w.taken[text+a.Display] - w.taken[text+b.Display] })
		w.taken[text+s.Display]++
		return s
	}
	switch {
	case len(ends) > 0 && w.IntN(2) == 0:
		return ends[0]
	case len(plain) > 0 && w.IntN(8) > 0:
		return plain[w.IntN(len(plain))]
	}
	s := list[w.IntN(len(list))]
	if s.Display == "," && len(list) > 1 && w.IntN(3) > 0 {
		return list[w.IntN(len(list))]
	}
	return s
}

// operator reports whether a suggestion continues an expression.
func operator(s string) bool {
	return s == "AND" || s == "OR" || s == "AS" || s == "IN" || strings.HasPrefix(s, "IS ") || strings.HasPrefix(s, "NOT ") ||
		s == "BETWEEN" || strings.Contains("!= <= >= + - * / % , (", s)
}

// value writes what the walker makes up.
func (w *walker) value(s complete.Suggestion) string {
	if s.Kind == complete.KindName {
		return "n" + strconv.Itoa(w.IntN(1000))
	}
	list := values[s.Display]
	if s.Kind == complete.KindLocalPath {
		list = values["path"]
	}
	if len(list) == 0 {
		w.t.Fatalf("no value of the form %q", s.Display)
	}
	return list[w.IntN(len(list))]
}

// TestWalk is S3: whatever statement the golden cases of the parser hold can be
// written by taking suggestions.
func TestWalk(t *testing.T) {
	const walks = 2500
	w := &walker{1, declared(t, shop), t, map[string]int{}}
	seen := map[string]int{}
	for range walks {
		seen[ast.Words(w.walk())]++
	}
	for words := range statements(t) { //plexus:orderfree independent checks
		if seen[words] == 0 {
			t.Errorf("no walk of %d wrote %s", walks, words)
		}
	}
}

// statements returns the words of every statement that the golden cases hold.
func statements(t *testing.T) map[string]bool {
	known := map[string]bool{}
	canonical(t, func(text string) {
		if s, err := parse.Statement(text); err == nil {
			known[ast.Words(s)] = true
		}
	})
	return known
}

// canonical calls a function with the canonical text of every statement that the
// golden cases of the parser hold; a statement without one as it was written.
func canonical(t testing.TB, f func(text string)) {
	for _, c := range goldentest.All(t, "../parse/testdata/golden") {
		if c.Command != "parse" {
			continue
		}
		all, err := parse.Statements(c.Input)
		if err != nil {
			continue
		}
		spans, _, _ := parse.Split(c.Input)
		for i, s := range all {
			if d, ok := s.(ast.Declaration); ok {
				if _, found := model.Lower(d); found != nil {
					continue
				}
			}
			f(canonicalText(s, c.Input[spans[i].Start:spans[i].End]))
		}
	}
}

func canonicalText(s ast.Statement, written string) string {
	if d, ok := s.(ast.Declaration); ok {
		e, _ := model.Lower(d)
		return render.Entity(e)
	}
	if text := render.Statement(s); text != "" {
		return text
	}
	return written
}

// TestPrefixes is S2.
func TestPrefixes(t *testing.T) {
	checked := 0
	canonical(t, func(text string) {
		tokens := parse.Tokens(text)
		for i, token := range tokens {
			if token.Role == parse.RoleComment {
				continue
			}
			if i > 0 && tokens[i-1].Span.End == token.Span.Start && inside(tokens[i-1].Role, token.Role, text[token.Span.Start]) {
				continue // in the middle of a value
			}
			checked++
			offered(t, text, token)
		}
	})
	if checked < 2000 {
		t.Errorf("only %d prefixes checked", checked)
	}
}

// inside reports whether two tokens that touch are parts of one value.
func inside(before, role parse.Role, first byte) bool {
	joint := func(r parse.Role) bool { return r == parse.RoleName || r == parse.RoleKeyword || r == parse.RoleNumber }
	return joint(before) && (joint(role) || first == '.' || first == '-') || before == parse.RoleMark && joint(role) && first != '`'
}

// offered checks that what follows a prefix is expected there.
func offered(t *testing.T, text string, token parse.Token) {
	prefix := text[:token.Span.Start]
	next := text[token.Span.Start:token.Span.End]
	r := parse.Expected(prefix)
	if r.At < len(prefix) {
		t.Errorf("%q does not read: %v", prefix, r.Fault)
		return
	}
	for _, e := range r.Expected {
		if stands(e, token.Role, next) {
			return
		}
	}
	t.Errorf("%q does not expect %s but %v", prefix, next, r.Expected)
}

// stands reports whether a token can be what is expected.
func stands(e parse.Expectation, role parse.Role, text string) bool {
	switch e.Class {
	case parse.ClassKeyword, parse.ClassMark, parse.ClassOperator, parse.ClassCall:
		word, _, _ := strings.Cut(e.Text, " ")
		return strings.EqualFold(word, text)
	case parse.ClassReference, parse.ClassName, parse.ClassField, parse.ClassSubscription:
		return role == parse.RoleName || role == parse.RoleFunction
	case parse.ClassExpression:
		return role == parse.RoleName || role == parse.RoleFunction || role == parse.RoleNumber || role == parse.RoleString
	case parse.ClassNode, parse.ClassExternal:
		return role != parse.RoleMark
	case parse.ClassPath, parse.ClassConfigKey:
		return role == parse.RoleString
	}
	switch e.Text {
	case "string", "timestamp", "code", "tests", "JSON path":
		return role == parse.RoleString
	case "hostname", "word", "rate":
		return role != parse.RoleMark && role != parse.RoleString
	}
	return role == parse.RoleNumber
}

// TestEdits is S1 for cursors anywhere in canonical statements.
func TestEdits(t *testing.T) {
	var texts []string
	canonical(t, func(text string) { texts = append(texts, text) })
	c := declared(t, shop)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		cursor := rapid.IntRange(0, len(text)).Draw(t, "cursor")
		for cursor > 0 && cursor < len(text) && text[cursor]&0xC0 == 0x80 {
			cursor--
		}
		check(t, text, cursor, c)
	})
}

// check is S1 and S4 at one place.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, cursor int, c complete.Catalog) {
	t.Helper()
	for _, s := range complete.At(text, cursor, c).Suggestions {
		if s.Edit.Start < 0 || s.Edit.Start > cursor || s.Edit.End < s.Edit.Start || s.Edit.End > len(text) {
			t.Fatalf("edit %v of %q lies outside of %d bytes", s.Edit, s.Display, len(text))
		}
		if s.Kind == complete.KindLocalPath || s.Edit.Text == "" {
			continue
		}
		start, _ := parse.Tail(text[:cursor])
		before := parse.Expected(text[start:cursor])
		after := parse.Expected(s.Edit.Apply(text)[start:])
		if after.At < min(before.At, s.Edit.Start-start) {
			t.Fatalf("%q at %d: %q reads to %d instead of %d", text, cursor, s.Edit.Apply(text), after.At, before.At)
		}
	}
}

// seedBytesMax bounds the golden cases that seed the fuzzer: every unit test runs
// all of them.
const seedBytesMax = 1000

// FuzzSuggest completes any text at any place.
func FuzzSuggest(f *testing.F) {
	f.Add(shop, 40)
	f.Add("CREATE RELAY `a", 15)
	f.Add("USE shop", 4)
	f.Add("CREATE SUBSCRIPTION s TO orders WHERE input.amount > (1 AND ", 59)
	canonical(f, func(text string) {
		if tokens := parse.Tokens(text); len(text) < seedBytesMax {
			f.Add(text, tokens[len(tokens)/2].Span.Start)
		}
	})
	c := declared(f, shop)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		cursor = min(max(cursor, 0), len(text))
		check(t, text, cursor, c)
	})
}
