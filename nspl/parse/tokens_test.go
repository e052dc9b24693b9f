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
		{"USE a\nUSE b", "USE USE"},
		{"", " "},
		{"USE a; 'open", "USE 'open"},
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
