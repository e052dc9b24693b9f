package parse

import "plexus/nspl/ast"

// BRANCH name SCHEMA name TTL duration (MAX INSTANCES uint EVICT LRU)?
func (p *parser) createBranch(c ast.Create) ast.Statement {
	b := &ast.CreateBranch{Create: c}
	p.building(b)
	b.Name = p.newName()
	p.expect("SCHEMA")
	b.Schema = p.ref(toSchema)
	p.expect("TTL")
	b.TTL = p.duration()
	if p.accept("MAX INSTANCES") {
		n := p.uint()
		b.MaxInstances = &n
		p.expect("EVICT LRU")
	}
	return b
}
