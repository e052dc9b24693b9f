package parse

import "plexus/nspl/ast"

// states ::= (USING MATERIALIZED STATE name policy)*
func (p *parser) states(deps *[]ast.StateDep) {
	for first := p.at; p.accept("USING MATERIALIZED STATE"); first = p.at {
		*deps = append(*deps, ast.StateDep{Relay: p.ref(toState)})
		d := &(*deps)[len(*deps)-1]
		p.statePolicy(d)
		d.Span = p.since(first)
	}
}

// statePolicy ::= REQUIRED WAIT | REQUIRED SKIP | DEFAULT '{' assignment, ... '}'
func (p *parser) statePolicy(d *ast.StateDep) {
	d.Policy = []ast.StatePolicy{ast.StateWait, ast.StateSkip, ast.StateDefault}[p.one("REQUIRED WAIT", "REQUIRED SKIP", "DEFAULT")]
	if d.Policy == ast.StateDefault {
		p.expectMark('{')
		for more := true; more; more = p.anotherOf('}') {
			d.Default = append(d.Default, p.assign(ClauseDefault))
		}
	}
}
