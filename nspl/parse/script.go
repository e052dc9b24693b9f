package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Piece is one statement of a script, or what should be one.
type Piece struct {
	// Statement is nil where the text is no statement; Faults tell why, and Attempt
	// what it was going to be. One that only lacks its semicolon is there, with its
	// fault.
	Statement ast.Statement
	Faults    ast.Diagnostics
	Attempt   Attempt
}

// Attempt is what can be told of a statement that does not parse.
type Attempt struct {
	Span vocab.Span
	// Word is its first word in upper case; "" if it is none.
	Word string
	// Kind and Name are what it is about, zero where they are not known. A name may be
	// known without its kind.
	Kind vocab.EntityKind
	Name ast.Name
}

// Pieces reads the statements of a text, those behind a fault too: the text is read
// on where the next statement may begin.
func Pieces(text string) (pieces []Piece) {
	if len(text) > TextBytesMax {
		_, bad := lex(text)
		return []Piece{{Faults: ast.Diagnostics{bad}}}
	}
	p, _, broken := lenient(text)
	p.each(func(x Piece) {
		x.Faults = p.lexical(x, &broken)
		pieces = append(pieces, x)
	})
	return pieces
}

// Script returns the statements of a text that parse, and every fault.
func Script(text string) (statements []ast.Statement, faults ast.Diagnostics) {
	for _, x := range Pieces(text) {
		if x.Statement != nil {
			statements = append(statements, x.Statement)
		}
		faults = append(faults, x.Faults...)
	}
	return statements, faults
}

// lexical adds the places of a piece that are no tokens to its faults. What the
// grammar makes of them is no fault of its own.
func (p *parser) lexical(x Piece, broken *ast.Diagnostics) ast.Diagnostics {
	list := x.Faults
	for n := 0; len(*broken) > 0 && (*broken)[0].Span.Start < x.Attempt.Span.End; n++ {
		bad := (*broken)[0]
		*broken = (*broken)[1:]
		if n == 0 && len(list) > 0 && list[0].Span.Start >= bad.Span.Start {
			list = nil
		}
		list = append(list, bad)
	}
	return list
}

// lenient returns a parser over the tokens of any text, the comments between them,
// and the faults of what is no token: the first of each line.
func lenient(text string) (p *parser, comments []Token, broken ast.Diagnostics) {
	l := &lexer{src: text}
	if strings.HasPrefix(text, byteOrderMark) {
		l.pos = len(byteOrderMark)
	}
	p = &parser{src: text, tokens: make([]token, 0, len(text)/5+4)}
	sound := utf8.ValidString(text)
	shown := -1 // the end of the line whose fault is listed
	for more := true; more; {
		from := l.pos
		l.skipSpace()
		comments = append(comments, commentsIn(text, from, l.pos)...)
		start := l.pos
		kind, bad := l.next()
		if bad == nil && !sound && !utf8.ValidString(text[start:l.pos]) {
			bad = badUTF8(text)
		}
		if bad != nil {
			kind, l.pos = tokenBroken, l.recovered(start)
			if start > shown {
				broken = append(broken, bad)
				shown = lineEnd(text, start)
			}
		}
		p.tokens = append(p.tokens, token{kind, int32(start), int32(l.pos)})
		more = kind != tokenEnd
	}
	return p, comments, broken
}

// recovered returns where a text is read on behind a place that is no token. A
// string without an end goes on to the end of its line, one in dollars to where the
// next statement may begin.
func (l *lexer) recovered(start int) int {
	switch l.src[start] {
	case '\'', '"':
		return lineEnd(l.src, start)
	case '$':
		l.pos = start + 1
		l.skip(inWord)
		if l.at(0) != '$' {
			return l.pos
		}
		for at := lineEnd(l.src, l.pos); at < len(l.src); at = lineEnd(l.src, at+1) {
			if beginsStatement(l.src[at+1:]) {
				return at
			}
		}
		return len(l.src)
	case '`':
		l.pos = start + 1
		l.skip(inName)
		if l.at(0) == '`' {
			l.pos++
		}
		return l.pos
	}
	_, n := utf8.DecodeRuneInString(l.src[start:])
	return start + n
}

// lineEnd returns where the line of an offset ends.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// beginsStatement reports whether a text begins with a word that statements begin
// with.
func beginsStatement(text string) bool {
	end := 0
	for end < len(text) && (wordStart(text[end]) || digit(text[end])) {
		end++
	}
	return slices.ContainsFunc(openings, func(word string) bool { return foldEqual(text[:end], word) })
}

// openings are the first words of statements.
var openings []string

func init() {
	for _, s := range statements {
		word, _, _ := strings.Cut(s.words, " ")
		if !slices.Contains(openings, word) {
			openings = append(openings, word)
		}
	}
}

// each reads the statements of a script one by one.
func (p *parser) each(read func(Piece)) {
	for p.skipEmpty(); p.kind() != tokenEnd; p.skipEmpty() {
		first := p.at
		x := Piece{}
		p.fresh(first)
		if !p.quickly(func() { x.Statement = p.statement() }) {
			p.fresh(first)
			d := p.attempt(func() { x.Statement = p.statement() })
			x = Piece{Faults: ast.Diagnostics{d}, Attempt: p.attempted(first)}
			p.resume(first)
			if p.whole != nil && p.wholeEnd == p.at { // the next statement begins: only the end is missing
				x.Statement = p.whole
			}
		}
		x.Attempt.Span = p.since(first)
		read(x)
	}
}

// fresh begins to read a statement.
func (p *parser) fresh(first int) {
	*p = parser{src: p.src, tokens: p.tokens, roles: p.roles, secrets: p.secrets, at: first}
}

// resume goes to where the next statement may begin: behind a semicolon, or at a
// line that begins as statements do. Where all may be a secret, only a line that
// declares something is taken for a statement.
func (p *parser) resume(first int) {
	for p.at = max(p.at, p.furthest); p.kind() != tokenEnd; p.at++ {
		start := int(p.tokens[p.at].start)
		switch hidden := p.hides(p.at); {
		case p.kind() == ';' && !hidden && !p.hides(p.at+1):
			return
		case p.at == first || start > 0 && p.src[start-1] != '\n' || !beginsStatement(p.src[start:]):
		case !hidden, p.whole != nil && p.wholeEnd == p.at, p.declaresAt(p.at):
			return
		}
	}
}

// declaresAt reports whether CREATE and a kind stand at a token.
func (p *parser) declaresAt(at int) bool {
	if !p.is(at, "CREATE") {
		return false
	}
	_, many, known := p.kindAt(at + 1)
	return known && !many
}

// attempted tells what the statement that begins at a token was going to be.
func (p *parser) attempted(first int) (a Attempt) {
	if p.tokens[first].kind != tokenWord {
		return a
	}
	a.Word = strings.ToUpper(p.text(first))
	if a.Word == "USE" {
		a.Kind, a.Name = vocab.EntityDomain, p.nameAt(first+1)
		return a
	}
	switch x := p.built.(type) {
	case ast.Declaration:
		a.Kind, a.Name = x.Declares(), p.meantName(x.Declared().Name)
	case ast.Alteration:
		a.Kind, a.Name = x.Alters(), x.Altered().Name
	}
	if a.Name.Text != "" || a.Word != "CREATE" && a.Word != "ALTER" && a.Word != "DROP" {
		return a
	}
	for at := first + 1; at < p.furthest; at++ {
		for _, kind := range vocab.EntityKinds() {
			if next := p.behind(at, kind.String()); next > 0 && next <= p.furthest {
				return Attempt{Word: a.Word, Kind: kind, Name: p.nameAt(next)}
			}
		}
	}
	if at := p.behindForeign(p.furthest); at > 0 && a.Word == "CREATE" {
		for _, kind := range vocab.EntityKinds() {
			if next := p.behind(at, kind.String()); next > 0 {
				return Attempt{Word: a.Word, Kind: kind, Name: p.meantName(p.nameAt(next))}
			}
		}
	}
	return Attempt{Word: a.Word, Name: p.nameAt(p.furthest + 1)}
}

// behindForeign returns the token behind words that other languages have between
// CREATE and the kind, 0 where they do not stand.
func (p *parser) behindForeign(at int) int {
	for _, words := range []string{"OR REPLACE", "OR ALTER", "TEMPORARY", "TEMP", "EXTERNAL", "UNLOGGED", "NEW"} {
		if next := p.behind(at, words); next > 0 {
			return next
		}
	}
	return 0
}

// meantName returns the name that a statement was to declare: the one behind IF NOT
// EXISTS where the kind came first, and all of one that was cut at a character which
// asks for backticks.
func (p *parser) meantName(n ast.Name) ast.Name {
	at := slices.IndexFunc(p.tokens, func(t token) bool { return int(t.start) == n.Span.Start && t.end > t.start })
	if at < 0 || p.tokens[at].kind != tokenWord {
		return n
	}
	if p.behind(at, "IF NOT EXISTS") > 0 {
		return p.nameAt(at + 3)
	}
	for end := at + 1; end < len(p.tokens) && p.tokens[end].start == p.tokens[end-1].end; end++ {
		switch p.tokens[end].kind {
		case tokenWord, tokenNumber, '-', '.':
			n.Text, n.Span.End = strings.ToLower(p.src[p.tokens[at].start:p.tokens[end].end]), int(p.tokens[end].end)
		default:
			return n
		}
	}
	return n
}

// behind returns the token behind the words of a phrase, 0 where they do not stand.
func (p *parser) behind(at int, phrase string) int {
	for word := range strings.SplitSeq(phrase, " ") {
		if !p.is(at, word) {
			return 0
		}
		at++
	}
	return at
}

// nameAt returns the name that a token is, none for another token.
func (p *parser) nameAt(at int) (n ast.Name) {
	if at < len(p.tokens) && (p.tokens[at].kind == tokenWord || p.tokens[at].kind == tokenQuoted) && !p.hides(at) {
		n = ast.Name{Text: strings.ToLower(strings.Trim(p.text(at), "`")), Span: p.span(at)}
	}
	return n
}

// Tail returns where the last statement of a text begins: behind the last semicolon
// that ends one, and behind what separates it from the next; or where it may begin
// behind a statement that does not parse. Broken is where the text stops being tokens,
// as in a string that has no end yet; the length of the text where it does not.
func Tail(text string) (start, broken int) {
	l := &lexer{src: text}
	l.skipSpace()
	start = l.pos
	sound := true // no fault since start
	for {
		l.skipSpace()
		at := l.pos
		switch kind, bad := l.next(); {
		case bad != nil:
			if l.pos = l.recovered(at); l.pos == len(text) {
				return tailStatement(text, start, at), at
			}
			sound = false
		case kind == tokenEnd:
			return tailStatement(text, start, len(text)), len(text)
		case kind == ';':
			l.skipSpace()
			start, sound = l.pos, true
		case !sound && (at == 0 || text[at-1] == '\n') && beginsStatement(text[at:]):
			start, sound = at, true
		}
	}
}

// tailStatement looks for a statement that begins behind one that does not parse and
// has no end.
func tailStatement(text string, start, end int) int {
	for {
		p, _, _ := lenient(text[start:end])
		if p.kind() == tokenEnd || p.attempt(func() { p.statement() }) == nil {
			return start
		}
		p.resume(0)
		if p.kind() == tokenEnd {
			return start
		}
		start += int(p.tokens[p.at].start)
	}
}
