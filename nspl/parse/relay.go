package parse

import "plexus/nspl/ast"

// RELAY name SCHEMA name branch_use (CAPACITY uint)? (WITH MATERIALIZED STATE LAST BY TIMESTAMP)?
func (p *parser) createRelay(c ast.Create) ast.Statement {
	r := &ast.CreateRelay{Create: c}
	p.building(r)
	r.Name = p.newName()
	p.expect("SCHEMA")
	r.Schema = p.ref(toSchema)
	p.branchUse(&r.Branch)
	if p.accept("CAPACITY") {
		n := p.uint()
		r.Capacity = &n
	}
	r.Materialized = p.accept("WITH MATERIALIZED STATE LAST BY TIMESTAMP")
	return r
}
