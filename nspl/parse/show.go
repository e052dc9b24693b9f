package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// SHOW CREATE kind name | SHOW RELAY name MATERIALIZED STATE | SHOW listing, each
// with FORMAT
func (p *parser) show() ast.Statement {
	if p.accept("CREATE") {
		kind := p.entityKind(showCreateKinds)
		return &ast.ShowCreate{Kind: kind, Name: p.ref(toAny(kind)), Format: p.format()}
	}
	if p.accept(vocab.EntityRelay.String()) {
		s := &ast.ShowState{Relay: p.ref(toState)}
		p.expect("MATERIALIZED STATE")
		s.Format = p.format()
		return s
	}
	for _, l := range ast.Listings() {
		if p.accept(l.String()) {
			return &ast.Show{What: l, Format: p.format()}
		}
	}
	p.fail()
	return nil
}

// format ::= (FORMAT (TEXT | JSON))?
func (p *parser) format() ast.Format {
	if p.accept("FORMAT") && p.one("TEXT", "JSON") == 1 {
		return ast.FormatJSON
	}
	return ast.FormatText
}
