package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// PLACEMENT name FROM name, ... TO name, ... policy (RANK uint)?
func (p *parser) createPlacement(c ast.Create) ast.Statement {
	c.Name = p.newName()
	s := &ast.CreatePlacement{Create: c}
	p.expect("FROM")
	s.From = list(p, p.operator)
	p.expect("TO")
	s.To = list(p, p.operator)
	s.Policy = p.policy()
	if p.accept("RANK") {
		n := p.uint()
		s.Rank = &n
	}
	return s
}

// operator takes the name of a runtime node, whatever its kind.
func (p *parser) operator() ast.Name { return p.ref(toOperator) }

// policy ::= NEUTRAL | REQUIRE COLOCATION | PREFER COLOCATION | SUGGEST SEPARATION
func (p *parser) policy() ast.Policy {
	first := p.at
	for _, policy := range vocab.PlacementPolicies() {
		if p.accept(policy.String()) {
			return ast.Policy{PlacementPolicy: policy, Span: p.since(first)}
		}
	}
	p.fail()
	return ast.Policy{}
}

// placementOf ::= (PLACEMENT policy)?
func (p *parser) placementOf() ast.Policy {
	if p.accept("PLACEMENT") {
		return p.policy()
	}
	return ast.Policy{}
}

// ALTER PLACEMENT name operation, ...
func (p *parser) alterPlacement() ast.Statement {
	s := &ast.AlterPlacement{Alter: p.alter(vocab.EntityPlacement)}
	p.building(s)
	s.Changes = operations(p, p.placementChange)
	return s
}

func (p *parser) placementChange() ast.PlacementChange {
	first := p.at
	var c ast.PlacementChange
	switch p.one("SET POLICY", "SET RANK", "DROP RANK", "SET FROM", "RENAME TO") {
	case 0:
		c.Op, c.Policy = ast.PlacementSetPolicy, p.policy()
	case 1:
		c.Op, c.Rank = ast.PlacementSetRank, p.uint()
	case 2:
		c.Op = ast.PlacementDropRank
	case 3:
		next := p.operation
		p.operation = nil // TO must come first
		c.Op, c.From = ast.PlacementSetMembers, p.names()
		p.operation = next
		p.expect("TO")
		c.To = p.names()
	case 4:
		c.Op, c.Name = ast.PlacementRename, p.newName()
	}
	c.Span = p.since(first)
	return c
}

// names reads the names of a list inside ALTER: a comma before an operation word
// is not of the list.
func (p *parser) names() []ast.Name {
	names := []ast.Name{p.operator()}
	for !p.beforeOperation() && p.acceptMark(',') {
		names = append(names, p.operator())
	}
	return names
}
