package ast

import (
	"bytes"
	"iter"
	"strings"
)

// maskSecrets returns the text with what may be a password or credentials - strings,
// the bare values of CONFIG, and what follows PASSWORD - replaced by asterisks, byte
// for byte, so that offsets stay true. Keys of CONFIG blocks stay readable, and so do
// statements that have no such words. It works on text that does not parse, because
// that is what excerpts show: a string that never ends is masked to the end of the
// text.
func maskSecrets(text string) string {
	if !MayHoldSecrets(text) {
		return text
	}
	masked := []byte(text)
	for begin, end := range statements(text) {
		if MayHoldSecrets(text[begin:end]) {
			maskStatement(masked, text, begin, end)
		}
	}
	return string(masked)
}

// statements yields where each statement begins and ends, as far as semicolons
// outside of strings tell. A string with a line break in plain quotes makes
// everything one statement: nobody knows which quote of it was forgotten.
func statements(text string) iter.Seq2[int, int] {
	var ends []int
	for i := 0; i < len(text); {
		open, closing := literalAt(text, i)
		switch {
		case open > 0:
			length := strings.Index(text[i+open:], closing)
			if length < 0 || len(closing) == 1 && strings.ContainsAny(text[i+open:i+open+length], "\r\n") {
				return func(yield func(int, int) bool) { yield(0, len(text)) }
			}
			i += open + length + len(closing)
			continue
		case text[i] == ';':
			ends = append(ends, i+1)
		}
		i++
	}
	return func(yield func(int, int) bool) {
		begin := 0
		for _, end := range append(ends, len(text)) {
			if begin < end && !yield(begin, end) {
				return
			}
			begin = end
		}
	}
}

// maskStatement masks one statement of the text.
func maskStatement(masked []byte, text string, begin, end int) {
	block, config := false, false // inside the brackets of CONFIG, whose values may be bare words; before them
	for i := begin; i < end; {
		next := i + 1
		switch open, closing := literalAt(text, i); {
		case open > 0:
			first, last := i+open, len(text)
			next = last
			if length := strings.Index(text[first:], closing); length >= 0 {
				last = first + length
				next = last + len(closing)
			}
			if next == len(text) || !strings.HasPrefix(strings.TrimLeft(text[next:], spaces), "=") {
				mask(masked[first:last])
			}
			if block {
				next = maskBare(masked, next)
			}
		case text[i] == '{' || config && strings.IndexByte("([", text[i]) >= 0:
			block, config = true, false
		case strings.IndexByte("})]", text[i]) >= 0:
			block = false
		case text[i] == '=' && block:
			next = maskBare(masked, next)
		case wordRune(rune(text[i])):
			for next < end && wordRune(rune(text[next])) {
				next++
			}
			switch word := text[i:next]; {
			case strings.EqualFold(word, "CONFIG"):
				config = true
			case strings.EqualFold(word, "PASSWORD"):
				next = maskBare(masked, next)
			}
		}
		i = next
	}
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
