package parse

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// statements is the language at a glance: the words a statement begins with, and
// who reads the rest of it.
var statements = []struct {
	words string
	read  func(*parser) ast.Statement
}{
	{"CREATE", (*parser).create},
	{"DROP", (*parser).drop},
	{"ALTER USER", (*parser).alterUser},
	{"ALTER DOMAIN SET PLACEMENT", (*parser).alterDomain},
	{"ALTER SCHEMA", (*parser).alterSchema},
	{"ALTER WIRE JSON SCHEMA", wireAlteration(vocab.WireJSON)},
	{"ALTER WIRE CBOR SCHEMA", wireAlteration(vocab.WireCBOR)},
	{"ALTER WIRE AVRO SCHEMA", wireAlteration(vocab.WireAvro)},
	{"ALTER PLACEMENT", (*parser).alterPlacement},
	{"REBIND RESOURCE", (*parser).rebindResource},
	{"UPLOAD RESOURCE", (*parser).uploadResource},
	{"RESET WASM PROCESSOR", (*parser).resetWASM},
	{"ALTER RELAY", (*parser).alterRelay},
	{"ALTER INGESTOR", alterNode(vocab.EntityIngestor, ingesting, ingestorOps)},
	{"ALTER EMITTER", alterNode(vocab.EntityEmitter, noRoutes, emitterOps)},
	{"ALTER JUNCTION", alterNode(vocab.EntityJunction, transforming, junctionOps)},
	{"ALTER DEDUPLICATOR", alterNode(vocab.EntityDeduplicator, transforming, deduplicatorOps)},
	{"ALTER REORDERER", alterNode(vocab.EntityReorderer, transforming, reordererOps)},
	{"ALTER REINGESTOR", alterNode(vocab.EntityReingestor, ingesting, reingestorOps)},
	{"ALTER GENERATOR", alterNode(vocab.EntityGenerator, setOnly, generatorOps)},
	{"SHOW", (*parser).show},
	{"DESCRIBE", (*parser).describe},
	{"LOOKUP", (*parser).lookup},
	{"LIST DOMAINS", func(*parser) ast.Statement { return &ast.ListDomains{} }},
	{"USE", (*parser).use},
	{"BEGIN", func(*parser) ast.Statement { return &ast.Begin{} }},
	{"COMMIT", func(*parser) ast.Statement { return &ast.Commit{} }},
	{"REVERT", func(*parser) ast.Statement { return &ast.Revert{} }},
	{"START", (*parser).start},
	{"STOP", func(*parser) ast.Statement { return &ast.Stop{} }},
	{"DELETE SUBSCRIPTION", (*parser).deleteSubscription},
	{"ATTACH DOMAIN CLOCK", clock(true)},
	{"DETACH DOMAIN CLOCK", clock(false)},
	{"CORDON NODE", nodeControl(ast.NodeCordon)},
	{"UNCORDON NODE", nodeControl(ast.NodeUncordon)},
	{"DRAIN NODE", nodeControl(ast.NodeDrain)},
	{"RELOCATE", (*parser).relocate},
	{"BACKUP", (*parser).backup},
	{"RESTORE", (*parser).restore},
}

// creation is one form of CREATE: the words after it, and who reads the rest.
type creation struct {
	words string
	read  func(*parser, ast.Create) ast.Statement
}

// creations are the forms of CREATE, apart from those whose head names a
// connector: HTTP ENDPOINT INGESTOR, NATS SUBJECT EMITTER and their like.
var creations = append([]creation{
	{"DOMAIN", (*parser).createDomain},
	{"UNPACED DOMAIN", (*parser).createDomain},
	{"PACED DOMAIN", (*parser).createPacedDomain},
	{"USER", (*parser).createUser},
	{"SCHEMA", (*parser).createSchema},
	{"WIRE JSON SCHEMA", wireCreation(vocab.WireJSON)},
	{"WIRE CBOR SCHEMA", wireCreation(vocab.WireCBOR)},
	{"WIRE AVRO SCHEMA", wireCreation(vocab.WireAvro)},
	{"CODEC", (*parser).createCodec},
	{"UDF", (*parser).createUDF},
	{"BRANCH", (*parser).createBranch},
	{"RELAY", (*parser).createRelay},
	{"CLIENT SCHEMA INGESTOR", sourceHead(vocab.SourceClientSchema)}, // before CLIENT, which it begins with
	{"CLIENT SCHEMA EMITTER", sinkHead(vocab.SinkClientSchema)},
	{"CLIENT", (*parser).createClient},
	{"VHOST", (*parser).createVHost},
	{"ENDPOINT", (*parser).createEndpoint},
	{"SIGNALING PROTOCOL", (*parser).createSignaling},
	{"HASH MAP", (*parser).createHashMap},
	{"RESOURCE", (*parser).createResource},
	{"PLACEMENT", (*parser).createPlacement},
	{"ATTACHED", func(p *parser, c ast.Create) ast.Statement { return p.createNode(c, ast.Attached) }},
	{"DETACHED", func(p *parser, c ast.Create) ast.Statement { return p.createNode(c, ast.Detached) }},
	{"GENERATOR", (*parser).createGenerator},
	{"INGESTOR", func(p *parser, c ast.Create) ast.Statement { return p.createIngestor(c, 0) }},
	{"EMITTER", func(p *parser, c ast.Create) ast.Statement { return p.createEmitter(c, ast.AttachmentOmitted, 0) }},
}, slices.Concat(processorHeads(), connectorHeads())...)

// processors are the forms of CREATE that take ATTACHED and DETACHED, apart from
// emitters.
var processors = []struct {
	words string
	read  func(*parser, ast.Create, ast.Attachment) ast.Statement
}{
	{"REINGESTOR", (*parser).createReingestor},
	{"JUNCTION", (*parser).createJunction},
	{"DEDUPLICATOR", (*parser).createDeduplicator},
	{"REORDERER", (*parser).createReorderer},
	{"CORRELATOR", (*parser).createCorrelator},
	{"WINDOW PROCESSOR", (*parser).createWindow},
	{"INFERENCER", (*parser).createInferencer},
	{"WASM PROCESSOR", (*parser).createWASM},
}

func processorHeads() []creation {
	var heads []creation
	for _, form := range processors {
		heads = append(heads, creation{form.words, func(p *parser, c ast.Create) ast.Statement {
			return form.read(p, c, ast.AttachmentOmitted)
		}})
	}
	return heads
}

func connectorHeads() []creation {
	var heads []creation
	for _, e := range vocab.SourceEntities() {
		if e != vocab.SourceClientSchema {
			heads = append(heads, creation{e.String() + " INGESTOR", sourceHead(e)})
		}
	}
	for _, e := range vocab.SinkEntities() {
		if e != vocab.SinkClientSchema {
			heads = append(heads, creation{e.String() + " EMITTER", sinkHead(e)})
		}
	}
	return heads
}

func sourceHead(e vocab.SourceEntity) func(*parser, ast.Create) ast.Statement {
	return func(p *parser, c ast.Create) ast.Statement { return p.createIngestor(c, e) }
}

func sinkHead(e vocab.SinkEntity) func(*parser, ast.Create) ast.Statement {
	return func(p *parser, c ast.Create) ast.Statement { return p.createEmitter(c, ast.AttachmentOmitted, e) }
}

// Kinds that statements name by keyword.
var (
	dropKinds       = slices.DeleteFunc(vocab.EntityKinds(), func(k vocab.EntityKind) bool { return k == vocab.EntityResource })
	showCreateKinds = vocab.EntityKinds()[2:] // those that have a canonical text and belong to a domain
	describeKinds   = slices.Concat([]vocab.EntityKind{vocab.EntityDomain}, relocateKinds, []vocab.EntityKind{
		vocab.EntityCodec, vocab.EntityEndpoint, vocab.EntityPlacement, vocab.EntityUDF, vocab.EntityResource,
	})
)

// Statements parses a text of statements that end in semicolons; the last one
// may go without. The error is an *ast.Diagnostic.
func Statements(text string) ([]ast.Statement, error) { return run(text, (*parser).script) }

// Statement parses a text that holds exactly one statement.
func Statement(text string) (ast.Statement, error) {
	return run(text, func(p *parser) ast.Statement {
		p.skipEmpty()
		s := p.statement()
		p.skipEmpty()
		if p.kind() != tokenEnd {
			p.refuse(ast.CodeTxRequired, p.span(p.at), "several statements need BEGIN … COMMIT")
		}
		return s
	})
}

// Expression parses a text that holds exactly one expression.
func Expression(text string) (ast.Expr, error) {
	return run(text, func(p *parser) ast.Expr {
		e := p.expr()
		if p.kind() != tokenEnd {
			p.expecting(p.at, Expectation{Text: "end of input", Class: ClassMark})
			p.fail()
		}
		return e
	})
}

// Split returns the spans of the statements of a script without parsing them: a
// semicolon inside a string or a comment separates nothing. The last statement
// may be incomplete, which open reports: no semicolon follows it.
func Split(text string) (spans []vocab.Span, open bool, err error) {
	tokens, bad := lex(text)
	if bad != nil {
		return nil, false, bad
	}
	first := 0
	for i, t := range tokens {
		if t.kind != ';' && t.kind != tokenEnd {
			continue
		}
		if i > first {
			spans = append(spans, vocab.Span{Start: int(tokens[first].start), End: int(tokens[i-1].end)})
			open = t.kind == tokenEnd
		}
		first = i + 1
	}
	return spans, open, nil
}

func (p *parser) script() []ast.Statement {
	var all []ast.Statement
	for p.skipEmpty(); p.kind() != tokenEnd; p.skipEmpty() {
		all = append(all, p.statement())
	}
	return all
}

// skipEmpty skips the semicolons of empty statements.
func (p *parser) skipEmpty() {
	for p.kind() == ';' {
		p.at++
	}
}

// statement takes one statement and looks for its end.
func (p *parser) statement() ast.Statement {
	first := p.at
	s := p.dispatch()
	ast.SetPlace(s, p.since(first))
	p.possible(ClassMark, ";")
	if p.kind() != ';' && p.kind() != tokenEnd {
		p.whole, p.wholeEnd = s, p.at
		p.expecting(p.at, Expectation{Text: ";", Class: ClassMark})
		p.fail()
	}
	return s
}

// dispatch finds the statement by its first words and reads the rest of it.
func (p *parser) dispatch() ast.Statement {
	for _, s := range statements {
		if p.accept(s.words) {
			p.clauses = nil
			return s.read(p)
		}
	}
	p.fail()
	return nil
}

// create takes what follows CREATE.
func (p *parser) create() ast.Statement {
	if p.accept("SUBSCRIPTION") {
		return p.createSubscription()
	}
	c := ast.Create{IfNotExists: p.accept("IF NOT EXISTS")}
	for _, form := range creations {
		if p.accept(form.words) {
			p.clauses = nil
			return form.read(p, c)
		}
	}
	p.fail()
	return nil
}

// createNode takes what follows ATTACHED or DETACHED.
func (p *parser) createNode(c ast.Create, attachment ast.Attachment) ast.Statement {
	for _, form := range processors {
		if p.accept(form.words) {
			p.clauses = nil
			return form.read(p, c, attachment)
		}
	}
	if p.accept("EMITTER") {
		return p.createEmitter(c, attachment, 0)
	}
	for _, e := range vocab.SinkEntities() {
		if p.accept(e.String() + " EMITTER") {
			p.clauses = nil
			return p.createEmitter(c, attachment, e)
		}
	}
	p.fail()
	return nil
}

// entityKind takes the words of one of the kinds.
func (p *parser) entityKind(kinds []vocab.EntityKind) vocab.EntityKind {
	for _, k := range kinds {
		if p.accept(k.String()) {
			return k
		}
	}
	p.fail()
	return 0
}
