package parse

import "plexus/nspl/ast"

// VHOST name hostname, ...
func (p *parser) createVHost(c ast.Create) ast.Statement {
	c.Name = p.newName()
	return &ast.CreateVHost{Create: c, Hostnames: list(p, p.hostname)}
}
