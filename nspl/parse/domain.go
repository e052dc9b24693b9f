package parse

import "plexus/nspl/ast"

func (p *parser) createDomain(c ast.Create) ast.Statement {
	c.Name = p.name()
	return &ast.CreateDomain{Create: c}
}

// PACED DOMAIN name WITH PERIOD duration SKEW duration
func (p *parser) createPacedDomain(c ast.Create) ast.Statement {
	c.Name = p.name()
	p.expect("WITH PERIOD")
	pace := &ast.Pace{Period: p.duration()}
	p.expect("SKEW")
	pace.Skew = p.duration()
	return &ast.CreateDomain{Create: c, Pace: pace}
}

func (p *parser) use() ast.Statement { return &ast.Use{Domain: p.name()} }
