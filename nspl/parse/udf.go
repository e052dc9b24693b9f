package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// UDF name WITH (NSPL_1 | WASM_1) ARGS '(' arg, ... ')' RETURNS type OPTIONAL? VOLATILE? body
func (p *parser) createUDF(c ast.Create) ast.Statement {
	u := &ast.CreateUDF{Create: c}
	p.building(u)
	u.Name = p.newName()
	p.expect("WITH")
	u.Language = vocab.UDFLanguage(p.one(vocab.UDFNSPL1.String(), vocab.UDFWASM1.String()))
	p.expect("ARGS")
	p.expectMark('(')
	for more := true; more; more = p.acceptMark(',') {
		a := ast.UDFParam{Name: p.newName(), Type: p.typ()}
		a.Optional = p.accept("OPTIONAL")
		u.Params = append(u.Params, a)
	}
	p.expectMark(')')
	p.expect("RETURNS")
	u.Returns = p.typ()
	u.Optional = p.accept("OPTIONAL")
	u.Volatile = p.accept("VOLATILE")
	if u.Language == vocab.UDFNSPL1 {
		p.expect("CODE")
		u.Code = p.stringOf("code")
		p.inside(u.Code, func() { u.Body = p.udfBody() })
		return u
	}
	p.expect("USING RESOURCE")
	u.Binding = &ast.Binding{}
	p.binding(u.Binding)
	p.expect("FILE")
	u.File = p.string()
	p.expect("EXPORT")
	u.Export = p.string()
	p.expect("MAX FUEL")
	u.MaxFuel = p.uint()
	p.expect("MAX MEMORY")
	u.MaxMemory = p.size()
	if p.accept("TESTS") {
		text := p.stringOf("tests")
		u.TestText = &text
		p.inside(text, func() { u.Tests = p.udfTests() })
	}
	return u
}

// inside reads what stands inside the string before, with spans that point into
// the whole text.
func (p *parser) inside(t ast.Text, read func()) {
	begin := t.Span.Start + (t.Span.End-t.Span.Start-len(t.Text))/2
	tokens, bad := lexPart(p.src, begin, begin+len(t.Text))
	if bad != nil {
		panic(fault{bad})
	}
	outer := *p
	defer func() { // a fault inside ends the statement, not the reading of what follows it
		p.tokens, p.at, p.furthest, p.expected, p.roles = outer.tokens, outer.at, outer.furthest, outer.expected, outer.roles
	}()
	p.tokens, p.at, p.furthest, p.expected, p.roles = tokens, 0, 0, nil, nil
	read()
	if p.kind() != tokenEnd {
		p.fail()
	}
}

// udfBody ::= (LET name '=' expr ';' | REJECT WHEN expr (MESSAGE string)? ';')* RETURN expr ';' test*
func (p *parser) udfBody() *ast.UDFBody {
	b := &ast.UDFBody{}
	for {
		first := p.at
		step := ast.UDFStep{}
		switch p.one("LET", "REJECT WHEN", "RETURN") {
		case 0:
			step.Name = p.target()
			p.expectMark('=')
			step.Value = p.exprIn(ClauseFunction)
		case 1:
			step.Reject = true
			step.Value = p.exprIn(ClauseFunction)
			if p.accept("MESSAGE") {
				m := p.string()
				step.Message = &m
			}
		case 2:
			b.Return = p.exprIn(ClauseFunction)
			p.expectMark(';')
			b.Tests = p.udfTests()
			return b
		}
		step.Span = p.since(first)
		p.expectMark(';')
		b.Steps = append(b.Steps, step)
	}
}

// test ::= TEST string '{' case+ '}'
func (p *parser) udfTests() []ast.UDFTest {
	var tests []ast.UDFTest
	for {
		first := p.at
		if !p.accept("TEST") {
			return tests
		}
		t := ast.UDFTest{Name: p.string()}
		p.expectMark('{')
		for more := true; more; more = !p.acceptMark('}') {
			t.Cases = append(t.Cases, p.udfCase())
		}
		t.Span = p.since(first)
		tests = append(tests, t)
	}
}

// case ::= CASE '(' constant, ... ')' (RETURNS constant | FAILS string?) ';'
func (p *parser) udfCase() ast.UDFCase {
	first := p.at
	p.expect("CASE")
	p.expectMark('(')
	c := ast.UDFCase{}
	for !p.acceptMark(')') {
		c.Args = append(c.Args, p.bracketed())
		if !p.acceptMark(',') {
			p.expectMark(')')
			break
		}
	}
	if p.one("RETURNS", "FAILS") == 0 {
		c.Returns = p.expr()
	} else if p.kind() == tokenString {
		kind := p.string()
		c.Fails = &kind
	} else {
		p.want(p.at, "string")
	}
	c.Span = p.since(first)
	p.expectMark(';')
	return c
}
