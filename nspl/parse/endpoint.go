package parse

import "plexus/nspl/ast"

// ENDPOINT name ON vhost PATH string TYPE HTTP
func (p *parser) createEndpoint(c ast.Create) ast.Statement {
	c.Name = p.name()
	p.expect("ON")
	e := &ast.CreateEndpoint{Create: c, VHost: p.name()}
	p.expect("PATH")
	e.Path = p.string()
	p.expect("TYPE")
	p.expect("HTTP")
	return e
}
