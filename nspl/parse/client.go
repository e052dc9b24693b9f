package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// CLIENT name TYPE type pool? (MOUNT binding)? config
func (p *parser) createClient(c ast.Create) ast.Statement {
	s := &ast.CreateClient{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("TYPE")
	s.Type = p.clientType()
	if s.Type == vocab.ClientWebSockets && p.accept("WITH SIGNALING PROTOCOL") {
		protocol := p.ref(toAny(vocab.EntitySignaling))
		s.Signaling = &protocol
	}
	if s.Type.Pooled() {
		p.expect("POOL SIZE")
		s.Pool = p.pool()
	}
	if p.accept("MOUNT") {
		s.Mount = &ast.Binding{}
		p.binding(s.Mount)
	}
	p.config(&s.Config)
	return s
}

func (p *parser) clientType() vocab.ClientType {
	for _, t := range vocab.ClientTypes() {
		if p.accept(t.String()) {
			return t
		}
	}
	p.fail()
	return 0
}

func (p *parser) pool() *ast.Pool {
	p.expect("MIN")
	pool := &ast.Pool{Min: p.uint()}
	p.expect("MAX")
	pool.Max = p.uint()
	return pool
}

func (p *parser) configEntry() ast.ConfigEntry {
	if p.kind() != tokenString {
		p.expecting(p.at, Expectation{Text: "string", Class: ClassConfigKey})
		p.fail()
	}
	e := ast.ConfigEntry{Key: p.string()}
	p.expectMark('=')
	switch p.kind() {
	case tokenNumber, tokenWord:
		e.Value = ast.Text{Text: p.text(p.at), Span: p.span(p.at)}
		p.at++
	default:
		p.want(p.at, "number")
		p.want(p.at, "word")
		e.Value = p.string()
	}
	return e
}
