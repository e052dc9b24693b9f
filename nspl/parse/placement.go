package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// PLACEMENT name FROM name, ... TO name, ... policy (RANK uint)?
func (p *parser) createPlacement(c ast.Create) ast.Statement {
	c.Name = p.name()
	s := &ast.CreatePlacement{Create: c}
	p.expect("FROM")
	s.From = list(p, p.name)
	p.expect("TO")
	s.To = list(p, p.name)
	s.Policy = p.policy()
	if p.accept("RANK") {
		n := p.uint()
		s.Rank = &n
	}
	return s
}

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
	s := &ast.AlterPlacement{Name: p.name()}
	s.Changes = list(p, p.placementChange)
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
		c.Op, c.From = ast.PlacementSetMembers, p.names()
		p.expect("TO")
		c.To = p.names()
	case 4:
		c.Op, c.Name = ast.PlacementRename, p.name()
	}
	c.Span = p.since(first)
	return c
}

// operationWords begin an operation of ALTER. Behind a comma they end the list
// before it: a name that is spelled like one stands in backticks there.
var operationWords = [...]string{"ADD", "DROP", "ALTER", "SET", "REPLACE", "RENAME", "MODE"}

// names reads the names of a list inside ALTER: a comma before an operation word
// is not of the list.
func (p *parser) names() []ast.Name {
	names := []ast.Name{p.name()}
	for !p.beforeOperation() && p.acceptMark(',') {
		names = append(names, p.name())
	}
	return names
}

// beforeOperation reports whether a comma stands here and the next operation
// behind it.
func (p *parser) beforeOperation() bool {
	if p.kind() != ',' {
		return false
	}
	for _, word := range operationWords {
		if p.is(p.at+1, word) {
			return true
		}
	}
	return false
}
