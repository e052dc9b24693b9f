package parse

import (
	"plexus/nspl/ast"
)

// Reading is how far the beginning of a statement reads, and what may stand
// there.
type Reading struct {
	// At is the offset of the furthest token that the grammar reached: the length
	// of the text where all of it could be the beginning of a statement.
	At int
	// Expected is what may stand at that token, in the order the grammar tries it.
	Expected []Expectation
	// Statement is what was read, filled as far as the text goes; nil while the
	// statement is not known. Clause is that of the expression or of the assignments
	// that the text ends in.
	Statement ast.Statement
	Clause    Clause
	// Fault is why the text is no statement; nil where it is a complete one.
	Fault *ast.Diagnostic
}

// Expected reads the beginning of a statement. The grammar that reads it is the
// one that reads whole statements, so what it expects is the language.
func Expected(text string) Reading {
	tokens, bad := lex(text)
	if bad != nil {
		return Reading{At: bad.Span.Start, Fault: bad}
	}
	p := &parser{src: text, tokens: tokens, detailed: true}
	r := Reading{Fault: p.attempt(func() {
		p.statement()
		if p.kind() == ';' { // nothing of this statement can follow
			p.at++
			p.furthest, p.expected = p.at, nil
		}
	})}
	r.At, r.Expected = int(p.tokens[p.furthest].start), p.expected
	if r.Fault != nil && r.Fault.Span.Start > r.At { // a value that was refused
		r.At, r.Expected = r.Fault.Span.Start, nil
	}
	r.Statement, r.Clause = p.built, p.clause
	return r
}

// attempt calls the grammar and returns its fault.
func (p *parser) attempt(grammar func()) (found *ast.Diagnostic) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			found = r.Diagnostic
		default:
			panic(r)
		}
	}()
	grammar()
	return nil
}

// InComment reports whether the end of a text stands in a comment, which goes on
// with what is written next.
func InComment(text string) bool {
	l := &lexer{src: text}
	for {
		from := l.pos
		l.skipSpace()
		if l.pos == len(text) {
			list := commentsIn(text, from, l.pos)
			return len(list) > 0 && list[len(list)-1].Span.End == len(text)
		}
		at := l.pos
		if _, bad := l.next(); bad != nil {
			l.pos = l.recovered(at)
		}
	}
}
