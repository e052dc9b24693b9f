package ast_test

import (
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// TestBrief: people see the beginning of a long list, programs all of it.
func TestBrief(t *testing.T) {
	list := strings.Split("A B C D E F G H I J K L M N", " ")
	long := ast.Errorf(ast.CodeParse, vocab.Span{Start: 1, End: 2}, "expected %s, found x", strings.Join(list, " | "))
	if got := long.Brief(); got != "expected A | B | C | D | E | F | G | H | I | J | … 4 more, found x" {
		t.Errorf("%s", got)
	}
	if !strings.Contains(long.Error(), "L | M | N, found x") || !strings.HasPrefix(long.Explain("ax"), "error at line 1, column 2: parse: "+long.Brief()) {
		t.Errorf("%s\n%s", long.Error(), long.Explain("ax"))
	}
	for _, d := range []*ast.Diagnostic{
		ast.Errorf(ast.CodeParse, vocab.Span{}, "expected %s, found x", strings.Join(list[:12], " | ")),
		ast.Errorf(ast.CodeInvalid, vocab.Span{}, "expected %s, found x", strings.Join(list, " | ")),
		ast.Errorf(ast.CodeParse, vocab.Span{}, "head KAFKA TOPIC does not match source MQTT"),
	} {
		if d.Brief() != d.Message {
			t.Errorf("%s is shortened to %s", d.Message, d.Brief())
		}
	}
}

// TestOneLine: whatever a message names, it stays on its line and short.
func TestOneLine(t *testing.T) {
	d := ast.Errorf(ast.CodeInvalid, vocab.Span{}, "QUEUE '%s' is wrong", ast.Shown("a\nb\x1b[31m\u2028é"))
	if d.Message != `QUEUE 'a\nb\x1b[31m\u2028é' is wrong` {
		t.Errorf("%s", d.Message)
	}
	if got := ast.Shown(strings.Repeat("é", 31)); got != strings.Repeat("é", 30)+"…" {
		t.Errorf("%s", got)
	}
}
