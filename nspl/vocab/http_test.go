package vocab

import (
	"strings"
	"testing"
)

func TestHTTPFields(t *testing.T) {
	for _, c := range []struct {
		check func(string) error
		text  string
		want  error
	}{
		{HTTPMethod, "PUT", nil}, {HTTPMethod, "x-custom", nil}, {HTTPMethod, "", errMethodToken}, {HTTPMethod, "A B", errMethodToken},
		{HTTPMethod, "é", errMethodToken}, {HTTPMethod, strings.Repeat("A", 65), errMethodToken}, {HTTPMethod, "trace", errMethodRefused},
		{HTTPMethod, "CONNECT", errMethodRefused},
		{HTTPTarget, "/", nil}, {HTTPTarget, "/a/%2F?b=+&b=", nil}, {HTTPTarget, "/é", nil}, {HTTPTarget, "", errTargetStart},
		{HTTPTarget, "http://h/", errTargetStart}, {HTTPTarget, "//h", errTargetStart}, {HTTPTarget, "/a#b", errTargetChar},
		{HTTPTarget, "/a b", errTargetChar}, {HTTPTarget, `/a\b`, errTargetChar}, {HTTPTarget, "/a\n", errTargetChar},
		{HTTPTarget, "/%2", errTargetEscape}, {HTTPTarget, "/%zz", errTargetEscape},
		{HTTPTarget, "/" + strings.Repeat("a", 8191), nil}, {HTTPTarget, "/" + strings.Repeat("a", 8192), errTargetLong},
		{HTTPTarget, "/" + strings.Repeat("é", 1366), errTargetLong},
		{HTTPHeaderName, "X-Id", nil}, {HTTPHeaderName, "", errHeaderToken}, {HTTPHeaderName, "a:b", errHeaderToken},
		{HTTPHeaderName, "content-length", errHeaderReserved}, {HTTPHeaderName, "HOST", errHeaderReserved},
		{HTTPHeaderValue, "", nil}, {HTTPHeaderValue, "a\tb é", nil}, {HTTPHeaderValue, "a\r\nb", errHeaderChar},
		{HTTPHeaderValue, "a\x00", errHeaderChar}, {HTTPHeaderValue, " a", errHeaderSpace}, {HTTPHeaderValue, "\xff", errHeaderUTF8},
	} {
		if got := c.check(c.text); got != c.want {
			t.Errorf("%.20q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"INHERIT", "ON MESSAGE ERROR", "SET", "INTERVAL"}
	for word, want := range map[string]string{ //plexus:orderfree independent cases
		"INHERT": "INHERIT", "INHERTI": "INHERIT", "XNHERIT": "INHERIT", "ST": "", "SETT": "SET", "INHERIT": "", "": "", "NOTHING": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
