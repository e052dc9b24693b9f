package parse

import (
	"strings"
	"unicode/utf8"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Role is what a token is where it stands: words are keywords only where the
// grammar takes them as such.
type Role uint8

// The roles.
const (
	RoleName     Role = iota // a name, or a word the grammar did not reach
	RoleKeyword              // of a phrase, or an operator in words
	RoleType                 // of a type
	RoleFunction             // what is called
	RoleNumber
	RoleString
	RoleMark
	RoleComment
	RoleBroken // from here on the text is no tokens
)

var roleNames = [...]string{"name", "keyword", "type", "function", "number", "string", "mark", "comment", "broken"}

// String returns the word for the role.
func (r Role) String() string { return roleNames[r] }

// Token is one token or comment of a text.
type Token struct {
	Role Role
	Span vocab.Span
}

// mark says what some tokens are.
func (p *parser) mark(from, to int, role Role) {
	if p.roles == nil {
		return
	}
	for at := from; at < to; at++ {
		if p.tokens[at].kind == tokenWord {
			p.roles[at] = role
		}
	}
}

// Tokens returns the tokens and comments of any text, in order, with the roles that
// the grammar gives them as far as it reads each statement.
func Tokens(text string) []Token {
	p, comments, bad := lenient(text)
	p.roles = make([]Role, len(p.tokens))
	p.each(func(ast.Statement) {}, func(*ast.Diagnostic) {})
	return p.outline(comments, bad != nil)
}

// Script parses the statements of a text, those behind a fault too, and returns
// every fault: one for each statement that does not parse, and the one of the place
// from which on the text is no tokens.
func Script(text string) (statements []ast.Statement, faults ast.Diagnostics) {
	if len(text) > TextBytesMax {
		_, bad := lex(text)
		return nil, ast.Diagnostics{bad}
	}
	p, _, bad := lenient(text)
	p.each(func(s ast.Statement) { statements = append(statements, s) }, func(d *ast.Diagnostic) {
		if bad == nil || d.Span.End < bad.Span.Start { // else it only lacks its end
			faults = append(faults, d)
		}
	})
	if bad != nil {
		if n := len(statements); n > 0 && p.cut {
			statements = statements[:n-1]
		}
		faults = append(faults, bad)
	}
	return statements, faults
}

// lenient returns a parser over the tokens of any text, up to where it is no tokens,
// and the comments between them.
func lenient(text string) (p *parser, comments []Token, bad *ast.Diagnostic) {
	l := &lexer{src: text}
	if strings.HasPrefix(text, byteOrderMark) {
		l.pos = len(byteOrderMark)
	}
	p = &parser{src: text}
	for more := true; more; {
		from := l.pos
		l.skipSpace()
		comments = append(comments, commentsIn(text, from, l.pos)...)
		start := l.pos
		var kind tokenKind
		if kind, bad = l.next(); bad != nil {
			kind, l.pos = tokenEnd, start
		} else if !utf8.ValidString(text[start:l.pos]) {
			kind, bad = tokenEnd, badUTF8(text)
			l.pos = start
		}
		p.tokens = append(p.tokens, token{kind, int32(start), int32(l.pos)})
		more = kind != tokenEnd
	}
	return p, comments, bad
}

// each reads the statements of a script one by one.
func (p *parser) each(read func(ast.Statement), failed func(*ast.Diagnostic)) {
	for p.skipEmpty(); p.kind() != tokenEnd; p.skipEmpty() {
		first := p.at
		p.furthest, p.expected, p.nesting, p.tryCast, p.secret = 0, nil, 0, false, false
		p.built, p.clause, p.operation = nil, ClauseNone, nil
		var s ast.Statement
		if d := p.attempt(func() { s = p.statement() }); d != nil {
			failed(d)
			p.resume(first)
			continue
		}
		read(s)
		p.cut = p.kind() == tokenEnd
	}
}

// resume goes to where the next statement may begin: behind a semicolon, or at a
// line that begins as statements do.
func (p *parser) resume(first int) {
	p.at = max(p.at, p.furthest)
	for ; p.kind() != ';' && p.kind() != tokenEnd; p.at++ {
		start := int(p.tokens[p.at].start)
		if p.at > first && (start == 0 || p.src[start-1] == '\n') && p.begins() {
			return
		}
	}
}

// begins reports whether a statement can begin with the current token.
func (p *parser) begins() bool {
	for _, s := range statements {
		word, _, _ := strings.Cut(s.words, " ")
		if p.is(p.at, word) {
			return true
		}
	}
	return false
}

// outline merges tokens and comments.
func (p *parser) outline(comments []Token, broken bool) []Token {
	list := make([]Token, 0, len(p.tokens)+len(comments))
	for i, t := range p.tokens {
		span := p.span(i)
		for len(comments) > 0 && comments[0].Span.Start < span.Start {
			list, comments = append(list, comments[0]), comments[1:]
		}
		role := p.roles[i]
		switch t.kind {
		case tokenEnd:
			if !broken {
				continue
			}
			role, span.End = RoleBroken, len(p.src)
		case tokenWord, tokenQuoted:
		case tokenString:
			role = RoleString
		case tokenNumber:
			role = RoleNumber
		default:
			role = RoleMark
		}
		list = append(list, Token{role, span})
	}
	return append(list, comments...)
}

// commentsIn returns the comments in what skipSpace skipped.
func commentsIn(text string, from, to int) (list []Token) {
	for from < to {
		at := strings.Index(text[from:to], "//")
		if at < 0 {
			return list
		}
		start := from + at
		end := to
		if n := strings.IndexByte(text[start:to], '\n'); n >= 0 {
			end = start + n
		}
		list = append(list, Token{RoleComment, vocab.Span{Start: start, End: end}})
		from = end
	}
	return list
}
