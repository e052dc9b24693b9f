package parse

import "plexus/nspl/ast"

// GENERATOR name USING MATERIALIZED STATE name EACH duration branch_use route+
func (p *parser) createGenerator(c ast.Create) ast.Statement {
	s := &ast.CreateGenerator{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("USING MATERIALIZED STATE")
	s.State = p.ref(toState)
	p.expect("EACH")
	s.Each = p.duration()
	p.branchUse(&s.Branch)
	p.routes(&s.Routes, setOnly)
	return s
}
