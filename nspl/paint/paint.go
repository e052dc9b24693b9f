// Package paint colours NSPL for terminals. What a word is, the parser says: there
// is no list of keywords here.
package paint

import (
	"strings"

	"plexus/nspl/parse"
)

// colours are the escape sequences of the roles; names and marks stay plain.
var colours = map[parse.Role]string{
	parse.RoleKeyword: "\x1b[34m", parse.RoleType: "\x1b[36m", parse.RoleFunction: "\x1b[35m", parse.RoleNumber: "\x1b[33m",
	parse.RoleString: "\x1b[32m", parse.RoleComment: "\x1b[90m",
}

const plain = "\x1b[0m"

// Text returns the text with colours. Without them it is the text that was given.
func Text(text string) string {
	var b strings.Builder
	at := 0
	for _, t := range parse.Tokens(text) {
		b.WriteString(text[at:t.Span.Start])
		at = t.Span.End
		colour := colours[t.Role]
		if colour == "" {
			b.WriteString(text[t.Span.Start:at])
			continue
		}
		// A colour ends with its line, so that a prompt before the next has none.
		for i, line := range strings.Split(text[t.Span.Start:at], "\n") {
			if i > 0 {
				b.WriteString("\n")
			}
			if line != "" {
				b.WriteString(colour + line + plain)
			}
		}
	}
	return b.String() + text[at:]
}
