package parse

import (
	"strings"

	"plexus/nspl/vocab"
)

// examples show what an expectation that is no keyword looks like.
var examples = []struct{ expected, example string }{
	{"duration", "a duration is a whole number and a unit, for example 250ms or 1h30m"},
	{"byte size", "a byte size is a whole number and a unit, for example 64KiB or 1MB"},
	{"type", "types are U8 to U64, I8 to I64, F32, F64, BOOL, STRING, BYTES, DATETIME, VEC<…>, ARRAY<…, n>"},
	{"string", "a string stands in quotes, for example 'text'"},
	{"external name", "a name with other characters than letters, digits, '_', '.' and '-' stands in quotes"},
}

// hint proposes a way out of a parse error.
func (p *parser) hint(found string) string {
	if p.tokens[p.furthest].kind == tokenWord {
		if near := vocab.Nearest(strings.ToUpper(found), firstWords(p.expected)); near != "" {
			return "did you mean " + near + "?"
		}
	}
	if len(p.expected) == 1 && p.expected[0] == "whole number" && p.furthest > 0 {
		if before := p.tokens[p.furthest-1]; before.kind == tokenWord {
			return "for example " + strings.ToUpper(p.text(p.furthest-1)) + " 64"
		}
	}
	for _, e := range examples {
		for _, want := range p.expected {
			if want == e.expected {
				return e.example
			}
		}
	}
	return ""
}

// firstWords returns the first word of each phrase.
func firstWords(phrases []string) []string {
	words := make([]string, len(phrases))
	for i, phrase := range phrases {
		words[i], _, _ = strings.Cut(phrase, " ")
	}
	return words
}
