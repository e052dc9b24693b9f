package parse

import "plexus/nspl/ast"

// SHOW CREATE kind name | SHOW listing, each with FORMAT
func (p *parser) show() ast.Statement {
	if p.accept("CREATE") {
		kind := p.entityKind(showCreateKinds)
		return &ast.ShowCreate{Kind: kind, Name: p.ref(toAny(kind)), Format: p.format()}
	}
	for l := ast.ListIngestors; l <= ast.ListUDFs; l++ {
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
