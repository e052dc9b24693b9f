package parse

import "plexus/nspl/ast"

// (UNPACED)? DOMAIN name placement?
func (p *parser) createDomain(c ast.Create) ast.Statement {
	c.Name = p.newName()
	return &ast.CreateDomain{Create: c, Placement: p.placementOf()}
}

// PACED DOMAIN name WITH PERIOD duration SKEW duration placement?
func (p *parser) createPacedDomain(c ast.Create) ast.Statement {
	c.Name = p.newName()
	p.expect("WITH PERIOD")
	pace := &ast.Pace{Period: p.duration()}
	p.expect("SKEW")
	pace.Skew = p.duration()
	return &ast.CreateDomain{Create: c, Pace: pace, Placement: p.placementOf()}
}

// ALTER DOMAIN SET PLACEMENT policy
func (p *parser) alterDomain() ast.Statement { return &ast.AlterDomain{Placement: p.policy()} }

func (p *parser) use() ast.Statement { return &ast.Use{Domain: p.ref(toDomain)} }
