package parse_test

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/internal/goldentest"
	"plexus/nspl/model"
	"plexus/nspl/parse"
)

// inputs returns what the golden cases parse.
func inputs(t *testing.T) (texts []string) {
	for _, c := range goldentest.All(t, "testdata/golden") {
		if c.Command == "parse" && len(c.Input) < 4096 {
			texts = append(texts, c.Input)
		}
	}
	return texts
}

// TestReject is the law nspl-reject: a text that was edited is accepted, or refused
// with a place inside of it.
func TestReject(t *testing.T) {
	texts := inputs(t)
	pieces := rapid.SampledFrom([]string{"", "(", ")", "{", "}", ",", ";", ".", "::", "'", "`x-y`", "$$", "//", "\n", "0", "1.5", "5ms", "1MiB",
		"é", "\u2028", "SET", "FROM", "TO", "NOT", "ON", "x", "udf"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			tokens := parse.Tokens(text)
			if len(tokens) == 0 {
				break
			}
			at := tokens[rapid.IntRange(0, len(tokens)-1).Draw(t, "token")].Span
			text = text[:at.Start] + " " + pieces.Draw(t, "piece") + " " + text[at.End:]
		}
		all, err := parse.Statements(text)
		var d *ast.Diagnostic
		if err != nil && (!errors.As(err, &d) || d.Message == "" || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(text)) {
			t.Fatalf("%q is refused with %v", text, err)
		}
		for _, s := range all {
			checkPlaces(t, text, s)
		}
		// A script reads every statement, and finds a fault exactly where one is.
		read, faults := parse.Script(text)
		if (len(faults) == 0) != (err == nil) || err == nil && len(read) != len(all) {
			t.Fatalf("%q: %v as one text, %v as a script", text, err, faults)
		}
	})
}

func checkPlaces(t *rapid.T, text string, s ast.Statement) {
	if p := s.Place(); p.Start < 0 || p.End < p.Start || p.End > len(text) {
		t.Fatalf("%T stands at %v of %d bytes", s, p, len(text))
	}
	d, ok := s.(ast.Declaration)
	if !ok || reflect.ValueOf(d).IsNil() {
		return
	}
	_, found := model.Lower(d)
	for _, one := range found {
		if one.Span.Start < 0 || one.Span.End > len(text) {
			t.Fatalf("%v stands at %v of %d bytes", one, one.Span, len(text))
		}
	}
}
