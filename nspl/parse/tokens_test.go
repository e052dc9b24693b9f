package parse_test

import (
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

func TestTokens(t *testing.T) {
	const text = "CREATE SCHEMA set (set STRING); // done\ncreate subscription s to r where NOT f(x) AS u8 > 1.5 AND 'a // b' = `in`; DROP bad; 'open"
	var got strings.Builder
	for _, token := range parse.Tokens(text) {
		if token.Role == parse.RoleMark {
			continue
		}
		got.WriteString(token.Role.String() + ":" + text[token.Span.Start:token.Span.End] + " ")
	}
	const want = "keyword:CREATE keyword:SCHEMA name:set name:set type:STRING comment:// done keyword:create keyword:subscription name:s " +
		"keyword:to name:r keyword:where keyword:NOT function:f name:x keyword:AS type:u8 number:1.5 keyword:AND string:'a // b' name:`in` " +
		"keyword:DROP name:bad broken:'open "
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestScript finds every fault of a script.
func TestScript(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"USE a; bad; USE b; CREATE RELAY r\nDROP RELAY x; USE", "USE|USE|DROP RELAY bad|DROP|"},
		{"USE a\nUSE b", "USE|USE USE"},
		{"", " "},
		{"USE a; 'open", "USE 'open"},
		// What is no token hides neither what follows nor other faults of its statement.
		{"USE a | b; USE c", "USE |"},
		{"USE 'open;\nUSE b;\nUSE c | d | e;\nUSE f", "USE|USE 'open;||"},
		{"CREATE RELY r 'open\nUSE b; USE `c d`;\nUSE é;", "USE RELY|'open|`c|é"},
		{"CREATE UDF f WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE $$ LET y = 1;\n RETURN x;\nUSE b", "USE $$"},
		{"USE a WITH $x y\nUSE b", "USE WITH|$x"},
	} {
		statements, faults := parse.Script(c.text)
		var words, places []string
		for _, s := range statements {
			words = append(words, ast.Words(s))
		}
		for _, d := range faults {
			places = append(places, c.text[d.Span.Start:d.Span.End])
		}
		if got := strings.Join(words, "|") + " " + strings.Join(places, "|"); got != c.want {
			t.Errorf("%q: %s", c.text, got)
		}
	}
}

// TestAttempts tells what statements that do not parse were going to be.
func TestAttempts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"CREATE RELAY r SCHEM s", "CREATE RELAY r"},
		{"CREATE IF NOT EXISTS NATS SUBJECT EMITTER e FORM x", "CREATE EMITTER e"},
		{"CREATE RELY Readings SCHEMA s", "CREATE - readings"},
		{"CREATE WIRE JSON SCHEMA w (", "CREATE WIRE JSON SCHEMA w"},
		{"CREATE SCHEMA s (a STRING | b)", "CREATE SCHEMA s"},
		{"DROP RELAY r CASCADE", "DROP RELAY r"},
		{"ALTER JUNCTION j ADD x", "ALTER JUNCTION j"},
		{"CREATE RELAY", "CREATE RELAY "},
		{"USE 'x", "USE DOMAIN "}, {"USE shop now", "USE DOMAIN shop"},
		{"'x", " - "},
	} {
		a := parse.Pieces(c.text)[0].Attempt
		kind := "-"
		if a.Kind != 0 {
			kind = a.Kind.String()
		}
		if got := a.Word + " " + kind + " " + a.Name.Text; got != c.want || a.Span.Start != 0 {
			t.Errorf("%s: %s", c.text, got)
		}
	}
}

// TestTail finds the statement that a text ends in.
func TestTail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"USE a; USE b", "USE b"}, {"USE a; ", ""}, {"USE 'open;\nUSE b", "USE b"}, {"USE a | b; USE b", "USE b"},
		{"CREATE RELY a\nDROP RELAY ", "DROP RELAY "}, {"CREATE RELAY a SCHEMA s UNBRANCHED\nDROP RELAY b\nUSE c", "USE c"},
		{"USE a; USE 'op", "USE 'op"},
	} {
		if start, _ := parse.Tail(c.text); c.text[start:] != c.want {
			t.Errorf("%q ends in %q", c.text, c.text[start:])
		}
	}
}
