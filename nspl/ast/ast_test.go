package ast

import (
	"errors"
	"strings"
	"testing"

	"plexus/nspl/vocab"
)

// TestVisible keeps what terminals obey out of reports.
func TestVisible(t *testing.T) {
	text := "USE \x1b[31m\x9b x\u202e;"
	d := Errorf(CodeLex, vocab.Span{Start: 4, End: 5}, "unexpected character '%c'", '\x1b')
	want := "error at line 1, column 5: lex: unexpected character '\\x1b'\nUSE \\x1b[31m\\x9b x\\u202e;\n    ^^^^\n"
	if got := d.Explain(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Visible("a\tb\nü"); got != "a\tb\nü" {
		t.Errorf("%q", got)
	}
}

func TestEqualIgnoresSpansOnly(t *testing.T) {
	tree := func(span, value int, name string) Expr {
		s := vocab.Span{Start: span, End: span + 1}
		return &Binary{At: At{s}, Op: Add, X: &IntLit{At{s}, int64(value)}, Y: &Call{At: At{s}, Name: Name{name, s}, Args: []Expr{&NullLit{At{s}}}}}
	}
	if !Equal(tree(1, 2, "f"), tree(7, 2, "f")) {
		t.Error("spans differ only")
	}
	if Equal(tree(1, 2, "f"), tree(1, 3, "f")) || Equal(tree(1, 2, "f"), tree(1, 2, "g")) || Equal(tree(1, 2, "f"), nil) {
		t.Error("values differ")
	}
	if Equal(&In{X: tree(1, 1, "f")}, &In{X: tree(1, 1, "f"), Not: true}) || !Equal(nil, nil) {
		t.Error("flags differ")
	}
}

func TestExplain(t *testing.T) {
	text := "first\n\tsécond line\r\nthird"
	at := strings.Index(text, "line")
	for _, c := range []struct {
		span vocab.Span
		want string
	}{
		{vocab.Span{Start: at, End: at + 4}, "error at line 2, column 9: parse: m\n\tsécond line\n\t       ^^^^\nhint: h\n"},
		{vocab.Span{Start: at, End: len(text)}, "error at line 2, column 9: parse: m\n\tsécond line\n\t       ^^^^\nhint: h\n"},
		{vocab.Span{Start: len(text), End: len(text)}, "error at line 3, column 6: parse: m\nthird\n     ^\nhint: h\n"},
		{vocab.Span{}, "error: parse: m\nhint: h\n"},
		{vocab.Span{Start: 900, End: 901}, "error at line 3, column 6: parse: m\nthird\n     ^\nhint: h\n"},
	} {
		if got := Errorf(CodeParse, c.span, "m").WithHint("h").Explain(text); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.span, got, c.want)
		}
	}
	long := strings.Repeat("é", 1000) + "X" + strings.Repeat("y", 1000)
	got := Errorf(CodeLex, vocab.Span{Start: 2000, End: 2001}, "m").Explain(long)
	if lines := strings.Split(got, "\n"); len([]rune(lines[1])) > 170 || strings.Index(lines[2], "^") < 0 {
		t.Errorf("a long line is shown whole:\n%s", got)
	}
}

func TestDiagnosticsUnwrap(t *testing.T) {
	found := Diagnostics{Errorf(CodeInvalid, vocab.Span{}, "a"), Errorf(CodeScope, vocab.Span{}, "b")}.About(Entity{vocab.EntityRelay, "r"})
	var one *Diagnostic
	if !errors.As(found.Err(), &one) || one.Message != "a" || one.Entity.String() != "RELAY 'r'" {
		t.Fatalf("%v", one)
	}
	if found.Error() != "invalid: a\nexpr.scope: b" {
		t.Fatal(found.Error())
	}
}

func TestVocabForms(t *testing.T) {
	second := Duration{Nanos: 1e9, Text: "1s"}
	if got := (SinkMode{Kind: vocab.SinkJetStreamAck, AckTimeout: second}).Vocab(); got.Window != (vocab.Window{Max: 1}) || got.AckTimeout.Seconds() != 1 {
		t.Errorf("%+v", got)
	}
	if got := (SinkMode{Kind: vocab.SinkNoAck, Retry: Retry{Backoff: second, Max: second}}).Vocab(); got.Window != (vocab.Window{}) || got.Retry.Max.Seconds() != 1 {
		t.Errorf("%+v", got)
	}
	for kind := vocab.NoAckSequential; kind <= vocab.AckParallel; kind++ {
		if got := (SourceMode{Kind: kind}).Vocab().Kind(); got != kind {
			t.Errorf("%v becomes %v", kind, got)
		}
	}
	if got := (Duration{Nanos: 1 << 63}).Value(); got <= 0 {
		t.Errorf("a long duration wraps to %v", got)
	}
}
