package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// relocateKinds are the kinds of runtime nodes that a statement can name.
var relocateKinds = []vocab.EntityKind{
	vocab.EntityIngestor, vocab.EntityReingestor, vocab.EntityGenerator, vocab.EntityJunction, vocab.EntityDeduplicator,
	vocab.EntityReorderer, vocab.EntityCorrelator, vocab.EntityWindow, vocab.EntityInferencer, vocab.EntityWASM,
	vocab.EntityEmitter, vocab.EntityRelay, vocab.EntityHashMap,
}

// nodeControl returns the reader of what follows CORDON NODE and its like.
func nodeControl(verb ast.NodeVerb) func(*parser) ast.Statement {
	return func(p *parser) ast.Statement { return &ast.NodeControl{Verb: verb, Node: p.node()} }
}

// node ::= hostname | string, or a hostname in backticks
func (p *parser) node() ast.Text {
	switch p.kind() {
	case tokenString:
		n := p.string()
		if n.Text == "" {
			p.refuseWith(ast.Errorf(ast.CodeInvalid, n.Span, "a node name must not be empty").WithHint("SHOW CLUSTER STATUS shows the nodes"))
		}
		return n
	case tokenQuoted:
		n := p.takeName()
		return ast.Text{Text: n.Text, Span: n.Span}
	case tokenWord, tokenNumber:
		return p.hostname()
	}
	p.expecting(p.at, Expectation{Text: "node name", Class: ClassNode})
	p.fail()
	return ast.Text{}
}

// RELOCATE selection onto
func (p *parser) relocate() ast.Statement { return &ast.Relocate{Relocation: p.relocation()} }

// relocation ::= (FROM list TO list | list) ONTO NODE node preferences
// (FOR list preferences)*
func (p *parser) relocation() ast.Relocation {
	var r ast.Relocation
	if p.accept("FROM") {
		r.From = list(p, p.runtimeNode)
		p.expect("TO")
		r.To = list(p, p.runtimeNode)
	} else {
		r.Nodes = list(p, p.runtimeNode)
	}
	p.expect("ONTO NODE")
	r.Onto = p.node()
	r.Preferences = p.preferences()
	for first := p.at; p.accept("FOR"); first = p.at {
		f := ast.PreferencesFor{Nodes: list(p, p.runtimeNode), Preferences: p.preferences()}
		f.Span = p.since(first)
		r.For = append(r.For, f)
	}
	return r
}

func (p *parser) runtimeNode() ast.RuntimeNode {
	kind := p.entityKind(relocateKinds)
	return ast.RuntimeNode{Kind: kind, Name: p.ref(toAny(kind))}
}

// preferences ::= (FOLLOW | IGNORE) PREFERENCES
func (p *parser) preferences() ast.Preferences {
	return ast.Preferences(p.one("FOLLOW PREFERENCES", "IGNORE PREFERENCES"))
}
