package parse

import (
	"math"
	"strconv"

	"plexus/nspl/ast"
	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

// START (AT (NOW | timestamp) (TIME RATE rate)?)?
func (p *parser) start() ast.Statement {
	s := &ast.Start{}
	if !p.accept("AT") {
		return s
	}
	if s.AtNow = p.accept("NOW"); !s.AtNow {
		s.At = p.instant()
	}
	if p.accept("TIME RATE") {
		s.Rate = p.rate()
	}
	return s
}

// instant takes a timestamp: a string in RFC 3339.
func (p *parser) instant() *ast.Instant {
	if p.kind() != tokenString {
		p.want(p.at, "timestamp")
		p.fail()
	}
	t := p.string()
	nanos, verdict := rfc3339.Parse([]byte(t.Text))
	switch verdict {
	case rfc3339.Invalid:
		p.refuseWith(ast.Errorf(ast.CodeInvalid, t.Span, "timestamp '%s' is not RFC 3339", t.Text).
			WithHint("date, time and offset stand in it, for example '2026-01-31T08:00:00Z' or '2026-01-31T09:00:00.5+01:00'"))
	case rfc3339.Range:
		p.refuseWith(ast.Errorf(ast.CodeInvalid, t.Span, "timestamp '%s' is outside the signed 64-bit nanosecond range", t.Text).
			WithHint("from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z"))
	}
	return &ast.Instant{Nanos: nanos, Text: t.Text, Span: t.Span}
}

// rate takes a number that may have an exponent, as in 5e-324.
func (p *parser) rate() *ast.Rate {
	first := p.at
	if k := p.kind(); k != tokenNumber && k != tokenWord && k != '-' {
		p.want(p.at, "number")
		p.fail()
	}
	for p.at++; p.touches() && p.inRate(); {
		p.at++
	}
	span := p.since(first)
	f, err := strconv.ParseFloat(p.src[span.Start:span.End], 64)
	if err != nil || f <= 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		p.refuseWith(ast.Errorf(ast.CodeInvalid, span, "TIME RATE must be a positive finite number").
			WithHint("TIME RATE 1 is real time, TIME RATE 2 twice as fast"))
	}
	return &ast.Rate{Value: f, Span: span}
}

// inRate reports whether the current token can go on with a rate.
func (p *parser) inRate() bool {
	switch p.kind() {
	case tokenWord, tokenNumber, '-', '+', '.':
		return true
	}
	return false
}

// clock returns the reader of ATTACH DOMAIN CLOCK or DETACH DOMAIN CLOCK.
func clock(attach bool) func(*parser) ast.Statement {
	return func(*parser) ast.Statement { return &ast.Clock{Attach: attach} }
}

// RESET WASM PROCESSOR name STATE IN DOMAIN name FOR (UNBRANCHED | ALL BRANCHES |
// BRANCH VALUES '{' key, ... '}')
func (p *parser) resetWASM() ast.Statement {
	s := &ast.ResetWASM{}
	p.building(s)
	s.Name = p.ref(toAny(vocab.EntityWASM))
	p.expect("STATE IN DOMAIN")
	s.Domain = p.ref(toDomain)
	p.expect("FOR")
	s.Scope = ast.ResetScope(p.one("UNBRANCHED", "ALL BRANCHES", "BRANCH VALUES"))
	if s.Scope == ast.ResetBranch {
		p.expectMark('{')
		s.Values = list(p, p.keyValue)
		p.expectMark('}')
	}
	return s
}

// keyValue ::= name '=' literal
func (p *parser) keyValue() ast.KeyValue {
	v := ast.KeyValue{Name: p.field()}
	p.expectMark('=')
	v.Value = p.literal()
	return v
}

// literal ::= string | '-'? number | TRUE | FALSE
func (p *parser) literal() ast.Literal {
	first := p.at
	switch {
	case p.kind() == tokenString:
		t := p.string()
		return ast.Literal{Kind: ast.LiteralString, Text: t.Text, Span: t.Span}
	case p.accept("TRUE"):
		return ast.Literal{Kind: ast.LiteralBool, Text: "TRUE", Span: p.since(first)}
	case p.accept("FALSE"):
		return ast.Literal{Kind: ast.LiteralBool, Text: "FALSE", Span: p.since(first)}
	}
	sign := ""
	if p.kind() != tokenNumber && p.kind() != '-' {
		p.want(p.at, "string")
	}
	if p.acceptMark('-') {
		sign = "-"
	}
	if p.kind() != tokenNumber {
		p.want(p.at, "number")
		p.fail()
	}
	l := ast.Literal{Kind: ast.LiteralInteger, Text: sign + p.text(p.at)}
	for i := range len(l.Text) {
		if l.Text[i] == '.' {
			l.Kind = ast.LiteralFloat
		}
	}
	p.at++
	l.Span = p.since(first)
	return l
}
