package parse

import "plexus/nspl/ast"

// ENDPOINT name ON vhost PATH string TYPE HTTP
func (p *parser) createEndpoint(c ast.Create) ast.Statement {
	c.Name = p.newName()
	p.expect("ON")
	e := &ast.CreateEndpoint{Create: c, VHost: p.ref(toVHost)}
	p.expect("PATH")
	e.Path = p.string()
	p.expect("TYPE")
	p.expect("HTTP")
	return e
}
