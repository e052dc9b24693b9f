package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// CLIENT name TYPE type (POOL SIZE MIN uint MAX uint)? CONFIG '{' string '=' value, ... '}'
func (p *parser) createClient(c ast.Create) ast.Statement {
	c.Name = p.newName()
	p.expect("TYPE")
	s := &ast.CreateClient{Create: c, Type: p.clientType()}
	if s.Type.Pooled() {
		p.expect("POOL SIZE")
		s.Pool = p.pool()
	}
	p.config(&s.Config)
	return s
}

func (p *parser) clientType() vocab.ClientType {
	for t := vocab.ClientHTTP; t <= vocab.ClientRedis; t++ {
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
