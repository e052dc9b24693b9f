package ast

import (
	"slices"
	"sort"
	"strings"

	"plexus/nspl/vocab"
)

// NotShown stands in messages for what may be a secret.
const NotShown = "a value that is not shown"

// Secrets knows what of a text may be a password or credentials. It alone decides
// what excerpts and messages show, and it reads texts that do not parse: there,
// all that stands behind a word of secrets is one, up to where the statement ends.
type Secrets struct {
	text   string
	pieces []piece
	// hidden is what a statement that does not parse never shows, in order.
	hidden []vocab.Span
	strict string // the text without what is hidden
	sound  string // the same where the statements parse, see piece.sound
}

// piece is one statement that may hold secrets.
type piece struct {
	begin, end int
	list       []lexeme
	broken     bool // holds a string without an end
	// sound is set where the secrets have their right form: the rest may be shown.
	sound bool
}

// FindSecrets looks for secrets in a text: see [MayHoldSecrets].
func FindSecrets(text string) *Secrets {
	s := &Secrets{text: text, strict: text, sound: text}
	if !MayHoldSecrets(text) {
		return s
	}
	strict, sound := []byte(text), []byte(text)
	open := false // the statement before has no good end, and the next may go on with it
	for _, x := range piecesOf(text) {
		from, declares, at := x.trigger(text)
		if open && !x.opens(text) {
			from, at = x.begin, len(x.list)
		}
		if from < 0 {
			open = false
			continue
		}
		x.sound = !x.broken && (at < len(x.list) || !open) && (!declares || x.formed(text, at))
		s.hide(x, from, at, text)
		maskStrings(strict, text, x)
		s.maskHidden(strict, from)
		copy(sound[x.begin:x.end], strict[x.begin:x.end])
		if x.sound {
			copy(sound[x.begin:x.end], text[x.begin:x.end])
			maskStrings(sound, text, x)
			maskBare(sound, text, x)
		}
		open = !x.sound || !x.closed(text)
		x.list = nil
		s.pieces = append(s.pieces, x)
	}
	s.strict, s.sound = string(strict), string(sound)
	return s
}

// Hides reports whether some of a part of the text may be a secret, in a statement
// that does not parse.
func (s *Secrets) Hides(part vocab.Span) bool {
	i := sort.Search(len(s.hidden), func(i int) bool { return s.hidden[i].End > part.Start })
	return i < len(s.hidden) && s.hidden[i].Start < max(part.End, part.Start+1)
}

// shown returns the text as an excerpt for a diagnostic may show it.
func (s *Secrets) shown(d *Diagnostic) string {
	if d.Code == CodeLex || d.Code == CodeParse {
		return s.strict
	}
	for _, x := range s.pieces {
		if x.sound && x.begin <= d.Span.Start && d.Span.Start < x.end {
			return s.strict[:x.begin] + s.sound[x.begin:x.end] + s.strict[x.end:]
		}
	}
	return s.strict
}

// hide notes the strings of a statement, and all behind an offset but the words that
// its grammar has there: those before the item at, where the value begins.
func (s *Secrets) hide(x piece, from, at int, text string) {
	end := x.end
	if n := len(x.list); n > 0 && !x.broken && text[x.list[n-1].begin] == ';' {
		end--
	}
	for i, l := range x.list {
		switch {
		case l.begin < from && l.kind == lexLiteral:
			s.hidden = append(s.hidden, vocab.Span{Start: l.begin, End: min(l.end, from)})
		case l.begin >= from && i <= at && l.kind == lexWord && (i == at || slices.Contains(clauseWords, strings.ToUpper(text[l.begin:l.end]))):
			if from < l.begin {
				s.hidden = append(s.hidden, vocab.Span{Start: from, End: l.begin})
			}
			from = l.end
		}
	}
	if from < end {
		s.hidden = append(s.hidden, vocab.Span{Start: from, End: end})
	}
}

// maskHidden masks what is hidden from an offset on.
func (s *Secrets) maskHidden(masked []byte, from int) {
	first := sort.Search(len(s.hidden), func(i int) bool { return s.hidden[i].Start >= from })
	for _, span := range s.hidden[first:] {
		for i := span.Start; i < span.End; i++ {
			if strings.IndexByte(spaces, masked[i]) < 0 {
				masked[i] = '*'
			}
		}
	}
}

// clauseWords are the words that stand between the name of a user or a client and
// its secrets.
var clauseWords = func() []string {
	words := []string{"WITH", "SET", "TYPE", "POOL", "SIZE", "MIN", "MAX", "MOUNT", "SIGNALING", "PROTOCOL"}
	for _, t := range vocab.ClientTypes() {
		words = append(words, t.String())
	}
	return words
}()

// trigger returns behind which offset a statement may hold a secret, -1 for nowhere,
// whether it declares a user or a client, and the word of secrets that its grammar
// shows; the number of its items where there is none.
func (x piece) trigger(text string) (from int, declares bool, at int) {
	from = -1
	declaring := 0
	for i, l := range x.list {
		switch content := text[l.first:l.last]; {
		case l.kind != lexLiteral || from >= 0:
		case secretWord(content):
			return l.end, false, i
		case MayHoldSecrets(content): // the quotes may be others than were meant
			return l.begin, false, len(x.list)
		}
		if l.kind != lexWord || l.end <= from {
			continue
		}
		switch word := text[l.begin:l.end]; {
		case strings.EqualFold(word, "CONFIG"), secretWord(word):
			if from < 0 {
				from = l.end
			}
			return from, declares, i
		case from >= 0:
		case strings.EqualFold(word, "CREATE"), strings.EqualFold(word, "ALTER"):
			declaring = declaringWords
		case declaring > 0 && declared(word) && !x.connector(text, i):
			from, declares = l.end, true
			if next := x.after(i); next < len(x.list) && (x.list[next].kind == lexWord || x.list[next].kind == lexName) {
				from = x.list[next].end
			}
		default:
			declaring--
		}
	}
	return from, declares, len(x.list)
}

// connector reports whether CLIENT at an item belongs to CLIENT SCHEMA, where it is a
// head or behind FROM or TO.
func (x piece) connector(text string, at int) bool {
	is := func(at int, words ...string) bool {
		return at >= 0 && at < len(x.list) && slices.Contains(words, strings.ToUpper(text[x.list[at].begin:x.list[at].end]))
	}
	return is(at+1, "SCHEMA") && (is(at-1, "FROM", "TO") || is(at+2, "INGESTOR", "EMITTER"))
}

// after returns the item behind another, comments left out.
func (x piece) after(i int) int {
	for i++; i < len(x.list) && x.list[i].kind == lexComment; i++ {
	}
	return i
}

// formed reports whether the secrets behind a word have the form of a password or of
// a CONFIG block, and nothing follows.
func (x piece) formed(text string, at int) bool {
	at++
	is := func(kind lexKind) bool { at++; return at <= len(x.list) && x.list[at-1].kind == kind }
	mark := func(marks string) bool {
		return is(lexMark) && strings.Contains(marks, text[x.list[at-1].begin:x.list[at-1].end])
	}
	if at < len(x.list) && x.list[at].kind == lexMark && mark("{") {
		for closed := false; !closed; closed = text[x.list[at-1].begin] == '}' {
			if at < len(x.list) && mark("}") {
				break
			}
			if at--; !is(lexLiteral) || !mark("=") || at >= len(x.list) {
				return false
			}
			if kind := x.list[at].kind; kind != lexLiteral && kind != lexWord {
				return false
			}
			if at++; !mark(",}") {
				return false
			}
		}
	} else if !is(lexLiteral) {
		return false
	}
	return at == len(x.list) || mark(";") && at == len(x.list)
}

// opens reports whether a statement begins as one does.
func (x piece) opens(text string) bool {
	i := x.after(-1)
	return i < len(x.list) && x.list[i].kind == lexWord && slices.Contains(Openings, strings.ToUpper(text[x.list[i].begin:x.list[i].end]))
}

// closed reports whether a statement ends in a string or a bracket, and closes what
// it opens.
func (x piece) closed(text string) bool {
	depth, last := 0, lexeme{}
	for _, l := range x.list {
		switch mark := text[l.begin:l.end]; {
		case l.kind == lexComment, mark == ";":
			continue
		case l.kind == lexMark && strings.Contains("{([", mark):
			depth++
		case l.kind == lexMark && strings.Contains("})]", mark):
			depth--
		}
		last = l
	}
	return depth == 0 && !x.broken && (last.kind == lexLiteral || last.kind == lexMark && strings.Contains("})]", text[last.begin:last.end]))
}

// Openings are the words that statements begin with.
var Openings = []string{
	"CREATE", "DROP", "ALTER", "REBIND", "UPLOAD", "RESET", "SHOW", "DESCRIBE", "LOOKUP", "LIST", "USE", "BEGIN", "COMMIT",
	"REVERT", "START", "STOP", "DELETE", "ATTACH", "DETACH", "CORDON", "UNCORDON", "DRAIN", "RELOCATE", "BACKUP", "RESTORE",
}

// maskStrings masks the strings of a statement, keys of CONFIG excepted, and its
// comments.
func maskStrings(masked []byte, text string, x piece) {
	for i, l := range x.list {
		key := i+1 < len(x.list) && text[x.list[i+1].begin] == '='
		if l.kind == lexComment || l.kind == lexLiteral && !key {
			mask(masked[l.first:l.last])
		}
	}
}

// maskBare masks the words behind the = of a CONFIG block.
func maskBare(masked []byte, text string, x piece) {
	config := false
	for i, l := range x.list {
		switch word := text[l.begin:l.end]; {
		case l.kind != lexWord:
		case strings.EqualFold(word, "CONFIG"):
			config = true
		case config && text[x.list[i-1].begin] == '=':
			mask(masked[l.begin:l.end])
		}
	}
}

const spaces = " \t\r\n\v\f"

// mask overwrites a value, line breaks excepted.
func mask(value []byte) {
	for i := range value {
		if value[i] != '\n' {
			value[i] = '*'
		}
	}
}

// declaringWords is how many words may stand from CREATE to the kind: IF NOT EXISTS
// and the kind.
const declaringWords = 4

// MayHoldSecrets reports whether the text has a word of passwords or client
// configuration, or declares a user or a client however it goes on.
func MayHoldSecrets(text string) bool {
	declaring := 0 // words left in which USER or CLIENT would be the kind declared
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !wordRune(r) }) {
		switch {
		case strings.EqualFold(word, "CONFIG"), secretWord(word):
			return true
		case strings.EqualFold(word, "CREATE"), strings.EqualFold(word, "ALTER"):
			declaring = declaringWords
		case declaring > 0 && declared(word):
			return true
		default:
			declaring--
		}
	}
	return false
}

// declared reports whether a word is a kind that has secrets.
func declared(word string) bool {
	return strings.EqualFold(word, "USER") || strings.EqualFold(word, "CLIENT")
}

// secretWord reports whether a word tells of a secret behind it, as it is written
// here or elsewhere, or nearly so.
func secretWord(word string) bool {
	if len(word) < len("PASS") {
		return false
	}
	if strings.EqualFold(word, "IDENTIFIED") || strings.EqualFold(word, "SECRET") {
		return true
	}
	return strings.EqualFold(word[:4], "PASS") &&
		!slices.ContainsFunc(passing, func(ending string) bool {
			return len(word) >= 4+len(ending) && strings.EqualFold(word[4:4+len(ending)], ending)
		})
}

// passing are the endings of words that begin as PASSWORD does, and are no secrets.
var passing = []string{"ED", "ES", "EN", "ING", "AGE", "IVE", "PORT", "_"}
