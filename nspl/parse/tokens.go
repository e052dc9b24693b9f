package parse

import (
	"strings"

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
	RoleBroken // no token
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
	p, comments, _ := lenient(text)
	p.roles = make([]Role, len(p.tokens))
	p.each(func(Piece) {})
	return p.outline(comments)
}

// outline merges tokens and comments.
func (p *parser) outline(comments []Token) []Token {
	list := make([]Token, 0, len(p.tokens)+len(comments))
	for i, t := range p.tokens {
		span := p.span(i)
		for len(comments) > 0 && comments[0].Span.Start < span.Start {
			list, comments = append(list, comments[0]), comments[1:]
		}
		role := p.roles[i]
		switch t.kind {
		case tokenEnd:
			continue
		case tokenBroken:
			role = RoleBroken
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
