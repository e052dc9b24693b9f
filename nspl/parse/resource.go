package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// RESOURCE name
func (p *parser) createResource(c ast.Create) ast.Statement {
	c.Name = p.newName()
	return &ast.CreateResource{Create: c}
}

// UPLOAD RESOURCE name VERSION string
func (p *parser) uploadResource() ast.Statement {
	s := &ast.UploadResource{Name: p.ref(toResource)}
	p.expect("VERSION")
	s.Path = p.path()
	return s
}

// bindKinds are the kinds that bind a resource, in the order of the grammar.
var bindKinds = []vocab.EntityKind{
	vocab.EntityVHost, vocab.EntityCodec, vocab.EntitySignaling, vocab.EntityInferencer, vocab.EntityWASM,
	vocab.EntityHashMap, vocab.EntityClient, vocab.EntityUDF,
}

// REBIND RESOURCE name TO version (FOR kind name, ...)?
func (p *parser) rebindResource() ast.Statement {
	s := &ast.RebindResource{Name: p.ref(toResource)}
	p.building(s)
	p.expect("TO")
	s.To = p.resourceVersion(s.Name)
	if p.accept("FOR") {
		for more := true; more; more = p.acceptMark(',') {
			p.usage(&s.For)
		}
	}
	return s
}

// usage takes one member of FOR.
func (p *parser) usage(list *[]ast.Usage) {
	first := p.at
	u := ast.Usage{Kind: p.entityKind(bindKinds)}
	u.Name = p.ref(toAny(u.Kind))
	u.Span = p.since(first)
	*list = append(*list, u)
}

// path takes a path in the file system of the client.
func (p *parser) path() ast.Text {
	if p.kind() != tokenString {
		p.expecting(p.at, Expectation{Text: "string", Class: ClassPath})
		p.fail()
	}
	return p.string()
}
