package parse

import (
	"slices"
	"strings"

	"plexus/nspl/vocab"
)

// examples show what an expectation that is no keyword looks like.
var examples = []struct{ expected, example string }{
	{"duration", "a duration is a whole number and a unit, for example 250ms or 1h30m"},
	{"byte size", "a byte size is a whole number and a unit, for example 64KiB or 1MB"},
	{"type", "types are U8 to U64, I8 to I64, F32, F64, BOOL, STRING, BYTES, DATETIME, VEC<…>, ARRAY<…, n>"},
	{"hostname", "a hostname stands without quotes, for example in.example.org"},
	{"node name", "the name of the node follows the word NODE, for example NODE node-1"},
	{"code", "code stands in quotes, best between $$ and $$"},
	{"tests", "tests stand in quotes, best between $$ and $$"},
	{"JSON path", "a path stands in quotes, for example '$.items[0].name'"},
	{"timestamp", "a timestamp is a string such as '2026-01-31T08:00:00Z'"},
	{"string", "a string stands in quotes, for example 'text'"},
	{"external name", "a name with other characters than letters, digits, '_', '.' and '-' stands in quotes"},
}

// hint proposes a way out of a parse error.
func (p *parser) hint() string {
	if p.tokens[p.furthest].kind == tokenWord && !p.secret {
		if h := p.wordHint(p.text(p.furthest)); h != "" {
			return h
		}
	}
	before := ";"
	if p.furthest > 0 {
		before = p.text(p.furthest - 1)
	}
	if h := p.neighbourHint(before, p.text(p.furthest)); h != "" {
		return h
	}
	for _, e := range examples {
		if slices.Contains(p.expectedTexts(), e.expected) {
			return e.example
		}
	}
	return ""
}

// wordHint proposes something for a word that cannot stand where it does.
func (p *parser) wordHint(found string) string {
	if near := vocab.Nearest(strings.ToUpper(found), firstWords(p.expectedTexts())); near != "" {
		return "did you mean " + near + "?"
	}
	texts := p.expectedTexts()
	wantsName := slices.Contains(texts, "name") || slices.Contains(texts, "expression")
	if wantsName && Reserved(strings.ToLower(found)) {
		return "write `" + strings.ToLower(found) + "` in backticks to use it as a name"
	}
	return ""
}

// neighbourHint proposes something for two tokens that other languages put
// together.
func (p *parser) neighbourHint(before, found string) string {
	switch {
	case foldEqual(before, "IS") && foldEqual(found, "NULL"):
		return "is_null(x) tells whether x is null"
	case before == "=" && found == "=":
		return "one = compares"
	case before == "<" && found == ">":
		return "!= means not equal"
	case before == "(" && found == "*":
		return "an aggregate has an argument, for example COUNT(input.field)"
	case foldEqual(found, "LIKE"), foldEqual(found, "ILIKE"):
		return "like(x, 'a%') and ilike(x, 'a%') are functions"
	case found == "::":
		return "x AS TYPE converts"
	case foldEqual(before, "CREATE") && foldEqual(found, "OR"):
		return "there is no OR REPLACE: DROP and CREATE it in one transaction"
	case foldEqual(before, "IF") && foldEqual(found, "EXISTS"):
		return "there is no IF EXISTS: a DROP of what does not exist is refused"
	case before == "-" && found == "-", before == ";" && found == "-", before == "/" && found == "*", before == ";" && found == "/":
		return "a comment begins with //"
	case p.expected[0].Text == "whole number" && p.furthest > 0 && p.tokens[p.furthest-1].kind == tokenWord:
		return "for example " + strings.ToUpper(before) + " 64"
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
