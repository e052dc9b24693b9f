package parse

import "plexus/nspl/ast"

// RELAY name SCHEMA name branch_use (CAPACITY uint)?
func (p *parser) createRelay(c ast.Create) ast.Statement {
	c.Name = p.name()
	p.expect("SCHEMA")
	r := &ast.CreateRelay{Create: c, Schema: p.name(), Branch: p.branchUse()}
	if p.accept("CAPACITY") {
		n := p.uint()
		r.Capacity = &n
	}
	return r
}
