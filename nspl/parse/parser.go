package parse

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// parser holds the token stream and what was expected at the furthest token.
type parser struct {
	src    string
	tokens []token
	at     int // the current token

	furthest int
	expected []Expectation // what was tried at the furthest token, in order

	// built is the statement being read, as far as it was read; clause is that of
	// the expression being read.
	built  ast.Statement
	clause Clause

	// whole is a statement that only lacks its end, which would be at token wholeEnd.
	whole    ast.Statement
	wholeEnd int

	// altering is set in the operations of ALTER; operation reads one more of them.
	altering  bool
	operation func()

	nesting int
	// quiet asks for no record of expectations, see run.
	quiet bool
	// detailed asks for every expectation, see possible.
	detailed bool
	// clauses are the phrases that were tried in the statement, see noted.
	clauses []clause
	// foreignName are the first token of the last external name and the one behind it.
	foreignName [2]int
	// roles is what each token is in its statement; nil unless [Tokens] asks.
	roles []Role
	// secret is set where a token may be a password.
	secret bool
	// secrets is what may be a secret in a text that does not parse; nil until it is
	// asked for.
	secrets *ast.Secrets
	// tryCast is set while the operand of TRY_CAST is read, outside of brackets:
	// the last AS before its ')' belongs to TRY_CAST.
	tryCast bool
}

// fault carries a diagnostic out of the grammar.
type fault struct{ *ast.Diagnostic }

// unrecorded ends a parse that failed without knowing what was expected.
type unrecorded struct{}

// run calls the grammar and catches its fault. Almost all texts are sound, so it
// reads without taking notes first, and once more with them when that fails.
func run[T any](src string, grammar func(*parser) T) (T, error) {
	tokens, bad := lex(src)
	if bad != nil {
		var none T
		return none, bad
	}
	var result T
	if quick := (&parser{src: src, tokens: tokens}); quick.quickly(func() { result = grammar(quick) }) {
		return result, nil
	}
	p := &parser{src: src, tokens: tokens}
	if found := p.attempt(func() { result = grammar(p) }); found != nil {
		var none T
		return none, found
	}
	return result, nil
}

// quickly calls the grammar without recording what it expects.
func (p *parser) quickly(grammar func()) (read bool) {
	p.quiet = true
	defer func() {
		p.quiet = false
		switch r := recover().(type) {
		case nil:
		case fault, unrecorded:
			read = false
		default:
			panic(r)
		}
	}()
	grammar()
	return true
}

// fail ends the parse with what was expected at the furthest token.
func (p *parser) fail() {
	if p.quiet {
		panic(unrecorded{})
	}
	d := ast.Errorf(ast.CodeParse, p.span(p.furthest), "expected %s, found %s", p.expectedLine(), p.found())
	d.Hint = p.hint()
	if p.tells(d.Hint) {
		if d.Hint = p.configHint(); d.Hint == "" { // neither of them quotes the text
			d.Hint = p.formHint()
		}
	}
	panic(fault{d})
}

// found is how a message calls the furthest token.
func (p *parser) found() string {
	text := p.text(p.furthest)
	switch kind := p.tokens[p.furthest].kind; {
	case kind == tokenEnd:
		return "end of input"
	case kind <= tokenNumber && (p.secret || p.hides(p.furthest)), kind == tokenBroken && p.hides(p.furthest):
		return ast.NotShown
	}
	return ast.Shown(text)
}

// refuse ends the parse with a fault of its own.
func (p *parser) refuse(code ast.Code, span vocab.Span, format string, args ...any) {
	p.refuseWith(ast.Errorf(code, span, format, args...))
}

// refuseWith ends the parse with a fault of its own that has its hint.
func (p *parser) refuseWith(d *ast.Diagnostic) {
	if text := p.src[d.Span.Start:d.Span.End]; !p.quiet && text != "" && p.hidesAt(d.Span) {
		text = strings.Trim(text, "'\"`")
		d.Message = strings.ReplaceAll(d.Message, "'"+ast.Shown(text)+"'", ast.NotShown)
		if strings.Contains(d.Hint, text) {
			d.Hint = ""
		}
	}
	panic(fault{d})
}

func (p *parser) text(at int) string { return p.src[p.tokens[at].start:p.tokens[at].end] }

func (p *parser) span(at int) vocab.Span {
	return vocab.Span{Start: int(p.tokens[at].start), End: int(p.tokens[at].end)}
}

// since returns the span from a token to the one before the current.
func (p *parser) since(first int) vocab.Span {
	if p.at == first {
		return p.span(first)
	}
	return p.span(first).Cover(p.span(p.at - 1))
}

func (p *parser) kind() tokenKind { return p.tokens[p.at].kind }

// peek returns the kind of the token n places ahead.
func (p *parser) peek(n int) tokenKind {
	return p.tokens[min(p.at+n, len(p.tokens)-1)].kind
}

// is reports whether a token is the keyword, which is in upper case.
func (p *parser) is(at int, keyword string) bool {
	return at < len(p.tokens) && p.tokens[at].kind == tokenWord && foldEqual(p.text(at), keyword)
}

func foldEqual(text, upper string) bool {
	if len(text) != len(upper) {
		return false
	}
	for i := range len(text) {
		b := text[i]
		if b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		if b != upper[i] {
			return false
		}
	}
	return true
}

// accept takes the words of a phrase if they stand here.
func (p *parser) accept(phrase string) bool {
	at := p.at
	if t := p.tokens[at]; p.quiet && (t.kind != tokenWord || p.src[t.start]&^('a'-'A') != phrase[0]) {
		return false // as most tries end
	}
	for rest := phrase; rest != ""; at++ {
		word, tail, _ := strings.Cut(rest, " ")
		if !p.is(at, word) {
			p.expecting(at, Expectation{Text: rest, Class: ClassKeyword})
			p.noted(phrase, p.at, false)
			return false
		}
		rest = tail
	}
	p.mark(p.at, at, RoleKeyword)
	p.noted(phrase, p.at, true)
	p.at = at
	return true
}

// expect takes the words of a phrase or fails.
func (p *parser) expect(phrase string) {
	if !p.accept(phrase) {
		p.fail()
	}
}

// acceptMark takes a punctuation mark of one byte.
func (p *parser) acceptMark(mark byte) bool {
	if p.kind() == tokenKind(mark) {
		p.at++
		return true
	}
	if !p.quiet { // the text of the mark is not for nothing
		p.record(p.at, Expectation{Text: string(mark), Class: ClassMark})
	}
	return false
}

func (p *parser) expectMark(mark byte) {
	if !p.acceptMark(mark) {
		p.fail()
	}
}

// one takes the first phrase that stands here and returns its index, or fails.
func (p *parser) one(phrases ...string) int {
	for i, phrase := range phrases {
		if p.accept(phrase) {
			p.chosen(phrases, i)
			return i
		}
	}
	p.fail()
	return -1
}

// list reads items with commas between them.
func list[T any](p *parser, item func() T) []T {
	items := []T{item()}
	for p.acceptMark(',') {
		items = append(items, item())
	}
	return items
}

// fields reads at least one item up to ')', with commas between them and perhaps
// one after the last.
func fields[T any](p *parser, item func() T) []T {
	items := []T{item()}
	for !p.acceptMark(')') {
		p.expectMark(',')
		if p.acceptMark(')') {
			break
		}
		items = append(items, item())
	}
	return items
}

// listUntil reads items with commas between them, perhaps one after the last, up
// to a closing mark. It may hold no item.
func listUntil[T any](p *parser, closing byte, item func() T) []T {
	var items []T
	for !p.acceptMark(closing) {
		items = append(items, item())
		if !p.acceptMark(',') {
			p.expectMark(closing)
			break
		}
	}
	return items
}

// anotherOf reports whether another item follows in a list that ends with a mark,
// and takes what is between them. A comma may stand after the last item.
func (p *parser) anotherOf(closing byte) bool {
	if p.acceptMark(closing) {
		return false
	}
	p.expectMark(',')
	return !p.acceptMark(closing)
}

// another takes the comma before the next item of a list without brackets. Inside
// ALTER, a comma may begin the next operation instead.
func (p *parser) another() bool {
	if p.altering && p.beforeOperation() {
		return false
	}
	return p.acceptMark(',')
}

// enter bounds recursion; every enter has its leave.
func (p *parser) enter() {
	p.nesting++
	if p.nesting > nestingMax {
		p.refuse(ast.CodeParse, p.span(p.at), "nesting exceeds %d levels", nestingMax)
	}
}

func (p *parser) leave() { p.nesting-- }
