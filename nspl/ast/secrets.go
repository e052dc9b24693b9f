package ast

import (
	"bytes"
	"strings"
)

// maskSecrets returns the text with what may be a password or credentials - strings,
// and the bare values of CONFIG - replaced by asterisks, byte for byte, so that
// offsets stay true. Keys of CONFIG blocks stay readable. It works on text that does not
// parse, because that is what excerpts show: a string that never ends is masked to
// the end of the text.
func maskSecrets(text string) string {
	if !MayHoldSecrets(text) {
		return text
	}
	masked := []byte(text)
	block := false // inside the braces of CONFIG, whose values may be bare words
	for i := 0; i < len(text); {
		next := i + 1
		switch open, closing := literalAt(text, i); {
		case open > 0:
			begin, end := i+open, len(text)
			next = end
			if length := strings.Index(text[begin:], closing); length >= 0 {
				end = begin + length
				next = end + len(closing)
			}
			if next == len(text) || !strings.HasPrefix(strings.TrimLeft(text[next:], spaces), "=") {
				mask(masked[begin:end])
			}
			if block {
				next = maskBare(masked, next)
			}
		case text[i] == '{' || text[i] == '}':
			block = text[i] == '{'
		case text[i] == '=' && block:
			next = maskBare(masked, next)
		}
		i = next
	}
	return string(masked)
}

const spaces = " \t\r\n"

// mask overwrites a value, line breaks excepted.
func mask(value []byte) {
	for i := range value {
		if value[i] != '\n' {
			value[i] = '*'
		}
	}
}

// maskBare masks the word or number that follows an offset and returns where it
// ends.
func maskBare(text []byte, at int) int {
	begin := len(text) - len(bytes.TrimLeft(text[at:], spaces))
	end := begin
	for end < len(text) && !strings.ContainsRune(spaces+",{}=;'\"$", rune(text[end])) {
		end++
	}
	mask(text[begin:end])
	return end
}

// literalAt tells whether a string begins at the offset: the length of its opening
// delimiter, 0 for none, and the closing one.
func literalAt(text string, i int) (open int, closing string) {
	switch text[i] {
	case '\'', '"':
		return 1, text[i : i+1]
	case '$':
		tag := strings.IndexFunc(text[i+1:], func(r rune) bool { return !wordRune(r) })
		if tag >= 0 && text[i+1+tag] == '$' {
			return tag + 2, text[i : i+tag+2]
		}
	}
	return 0, ""
}

func wordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// MayHoldSecrets reports whether the text has a word of passwords or client
// configuration, or declares a user or a client however it goes on.
func MayHoldSecrets(text string) bool {
	declaring := 0 // words left in which USER or CLIENT would be the kind declared
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !wordRune(r) }) {
		switch {
		case strings.EqualFold(word, "PASSWORD"), strings.EqualFold(word, "CONFIG"):
			return true
		case strings.EqualFold(word, "CREATE"), strings.EqualFold(word, "ALTER"):
			declaring = 4 // IF NOT EXISTS and the kind
		case declaring > 0 && (strings.EqualFold(word, "USER") || strings.EqualFold(word, "CLIENT")):
			return true
		default:
			declaring--
		}
	}
	return false
}
