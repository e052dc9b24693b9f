package parse

import "plexus/nspl/ast"

// CODEC name FROM WIRE JSON SCHEMA name TO SCHEMA name (ENCODE name AS RFC3339, ...)?
func (p *parser) createCodec(c ast.Create) ast.Statement {
	c.Name = p.name()
	p.expect("FROM WIRE JSON SCHEMA")
	s := &ast.CreateCodec{Create: c, Wire: p.name()}
	p.expect("TO SCHEMA")
	s.Schema = p.name()
	if p.accept("ENCODE") {
		s.RFC3339 = list(p, func() ast.Name {
			n := p.name()
			p.expect("AS RFC3339")
			return n
		})
	}
	return s
}
