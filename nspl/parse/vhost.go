package parse

import "plexus/nspl/ast"

// VHOST name hostname, ... (WITH TLS binding)?
func (p *parser) createVHost(c ast.Create) ast.Statement {
	s := &ast.CreateVHost{Create: c}
	p.building(s)
	s.Name = p.newName()
	s.Hostnames = list(p, p.hostname)
	if p.accept("WITH TLS") {
		s.TLS = &ast.Binding{}
		p.binding(s.TLS)
	}
	return s
}
