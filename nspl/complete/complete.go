package complete

import (
	"cmp"
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// Kind says what a suggestion is.
type Kind uint8

// The kinds, in the order of a list of suggestions.
const (
	KindReference Kind = iota
	KindField
	KindKeyword
	KindFunction
	KindUDF
	KindPunctuation
	KindLiteral // the form of a value; its edit is empty unless there is one value to take
	KindName    // a name to think of; its edit is empty
	KindLocalPath
)

var kindNames = [...]string{"reference", "field", "keyword", "function", "udf", "punctuation", "literal", "name", "local_path"}

// String returns the kind as the session protocol writes it.
func (k Kind) String() string { return kindNames[k] }

// Edit replaces the bytes from Start to End.
type Edit struct {
	Start, End int
	Text       string
}

// Apply returns the text with the edit made.
func (e Edit) Apply(text string) string { return text[:e.Start] + e.Text + text[e.End:] }

// Suggestion is one thing that can be written.
type Suggestion struct {
	Display string
	Kind    Kind
	Edit    Edit
	// Detail explains what the display does not: the signature of a function, the
	// type of a field.
	Detail string
}

// Catalog is what completion knows besides the text. Nil stands for nothing.
type Catalog interface {
	// Selected reports whether a domain is selected. Without one there are users,
	// domains and nodes only.
	Selected() bool
	// Names lists the entities of a kind, in order.
	Names(kind vocab.EntityKind) []string
	// Entity returns the model of an entity of the domain.
	Entity(kind vocab.EntityKind, name string) (model.Entity, bool)
	// Nodes lists the nodes of the cluster, in order.
	Nodes() []string
	// Versions lists the completed versions of a resource of the domain, in order.
	Versions(resource string) []uint64
	// Subscriptions lists the subscriptions of the session, in order.
	Subscriptions() []string
}

// Result is what can be written at a place.
type Result struct {
	Suggestions []Suggestion
	// NeedsDomain says that an entity is referred to and no domain is selected.
	NeedsDomain bool
}

// At proposes what can be written at an offset of a text, which lies between two
// characters. Suggestions are sorted and each stands there once.
func At(text string, cursor int, c Catalog) Result {
	before := text[:cursor]
	if parse.InComment(before) {
		return Result{}
	}
	start, broken := parse.Tail(before)
	if broken < cursor {
		return unfinished(text, start, broken, cursor, c)
	}
	word := wordStart(before, start)
	w := &writer{catalog: c, text: text, start: word, end: wordEnd(text, word, cursor), partial: before[word:]}
	if r := parse.Expected(before[start:word]); reaches(r, word-start) {
		w.suggest(r)
	}
	if len(w.result.Suggestions) == 0 && word < cursor && w.end == cursor { // not inside a word
		w.start, w.end, w.partial = cursor, cursor, ""
		if r := parse.Expected(before[start:]); reaches(r, cursor-start) {
			w.suggest(r)
		}
	}
	return w.sorted()
}

// unfinished proposes something inside a string or a name in backticks that has no
// end yet.
func unfinished(text string, start, broken, cursor int, c Catalog) Result {
	r := parse.Expected(text[start:broken])
	if !reaches(r, broken-start) {
		return Result{}
	}
	w := &writer{catalog: c, text: text, start: broken, end: cursor, partial: text[broken+1 : cursor], quote: text[broken]}
	w.end = quotedEnd(text, cursor, w.quote)
	w.suggest(r)
	return w.sorted()
}

// wordStart is where the word that ends at the end of a text begins.
func wordStart(text string, from int) int {
	at := len(text)
	for at > from && wordByte(text[at-1]) {
		at--
	}
	return at
}

// wordEnd is where the word ends that began at start: a suggestion replaces all of
// it, also what stands behind the cursor.
func wordEnd(text string, start, cursor int) int {
	for start < cursor && cursor < len(text) && wordByte(text[cursor]) {
		cursor++
	}
	return cursor
}

// quotedEnd is where the name or the key in quotes ends that the cursor stands in: the
// cursor, if it has no end.
func quotedEnd(text string, cursor int, quote byte) int {
	end := cursor
	for end < len(text) && (wordByte(text[end]) || strings.IndexByte(".~-", text[end]) >= 0) {
		end++
	}
	if end < len(text) && text[end] == quote {
		return end + 1
	}
	return cursor
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// writer turns expectations into suggestions.
type writer struct {
	catalog    Catalog
	text       string
	start, end int    // what an edit replaces
	partial    string // what was typed of it
	quote      byte   // of the string or the quoted name that the partial text stands in
	reading    parse.Reading
	scopes     []scope // see fields
	result     Result
}

func (w *writer) suggest(r parse.Reading) {
	w.reading = r
	for _, e := range r.Expected {
		w.expectation(e)
	}
}

func (w *writer) expectation(e parse.Expectation) {
	if w.quote != 0 && w.quote != '`' {
		switch e.Class {
		case parse.ClassPath:
			w.put(Suggestion{Display: "path", Kind: KindLocalPath, Edit: Edit{w.start + 1, w.start + 1 + len(w.partial), w.partial}})
		case parse.ClassConfigKey:
			w.configKeys()
		}
		return
	}
	switch e.Class {
	case parse.ClassKeyword, parse.ClassOperator:
		w.keyword(e.Text)
	case parse.ClassMark:
		w.token(e.Text, KindPunctuation, "")
	case parse.ClassCall:
		if w.callable(e.Of) {
			w.token("(", KindPunctuation, "")
		}
	case parse.ClassReference:
		w.references(e.To)
	case parse.ClassNode:
		w.nodes()
	case parse.ClassName:
		w.placeholder("name", KindName)
	case parse.ClassExternal, parse.ClassLiteral:
		w.literal(e.Text)
	case parse.ClassField:
		w.bareFields(e)
	case parse.ClassExpression:
		w.operands()
	case parse.ClassPath:
		w.placeholder("path", KindLocalPath)
	case parse.ClassConfigKey:
		w.configKeys()
	case parse.ClassVersion:
		w.versions(e.Of)
	case parse.ClassSubscription:
		w.subscriptions()
	}
}

// keyword suggests a phrase of keywords, or an operator.
func (w *writer) keyword(text string) {
	kind := KindKeyword
	if !wordByte(text[0]) {
		kind = KindPunctuation
	}
	w.token(text, kind, "")
}

// token suggests a text that replaces the partial word.
func (w *writer) token(text string, kind Kind, detail string) {
	if w.quote == 0 && w.matches(text) {
		w.put(Suggestion{Display: text, Kind: kind, Edit: w.edit(text), Detail: detail})
	}
}

// name suggests a name, in backticks where it is not read back bare.
func (w *writer) name(text string, kind Kind, detail string, bare bool) {
	if !w.matches(text) {
		return
	}
	written := text
	if !bare || w.quote == '`' {
		written = "`" + text + "`"
	}
	w.put(Suggestion{Display: text, Kind: kind, Edit: w.edit(written), Detail: detail})
}

// placeholder says what kind of thing stands here, where there is nothing to
// choose from.
func (w *writer) placeholder(display string, kind Kind) {
	if w.partial == "" {
		w.put(Suggestion{Display: display, Kind: kind, Edit: Edit{w.start, w.start, ""}})
	}
}

// matches reports whether a text begins as what was typed.
func (w *writer) matches(text string) bool {
	return len(text) >= len(w.partial) && strings.EqualFold(text[:len(w.partial)], w.partial)
}

// edit puts a text in place of the partial word, with a space where it would run
// into what stands before.
func (w *writer) edit(text string) Edit {
	if w.start > 0 && w.start == w.end && joins(w.text[w.start-1]) && joins(text[0]) {
		text = " " + text
	}
	if w.end < len(w.text) && joins(text[len(text)-1]) && joins(w.text[w.end]) {
		text += " "
	}
	return Edit{w.start, w.end, text}
}

// joins reports whether a token that begins or ends with the byte is read together
// with another such one.
func joins(b byte) bool { return wordByte(b) || strings.IndexByte("`'\"$!<>=:/", b) >= 0 }

func (w *writer) put(s Suggestion) { w.result.Suggestions = append(w.result.Suggestions, s) }

func (w *writer) sorted() Result {
	list := w.result.Suggestions
	slices.SortStableFunc(list, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Display, b.Display))
	})
	w.result.Suggestions = slices.CompactFunc(list, func(a, b Suggestion) bool { return a.Kind == b.Kind && a.Display == b.Display })
	return w.result
}

// statement is what was read, never nil.
func (w *writer) statement() ast.Statement {
	if w.reading.Statement == nil {
		return &ast.Begin{}
	}
	return w.reading.Statement
}

// reaches reports whether a text of some length reads to its end, so that what is
// expected there can follow.
func reaches(r parse.Reading, length int) bool {
	return r.At >= length && (r.Fault == nil || r.Fault.Span.Start >= r.At)
}
