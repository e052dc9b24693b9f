package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// CODEC name FROM format ... TO SCHEMA name ...
func (p *parser) createCodec(c ast.Create) ast.Statement {
	s := &ast.CreateCodec{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("FROM")
	s.Format = p.codecFormat()
	if format, ok := s.Format.Wire(); ok {
		s.Wire = p.ref(toAny(format.Kind()))
	}
	if s.Format == vocab.FormatProtobuf {
		s.Protobuf = &ast.Protobuf{}
		p.protobuf(s.Protobuf)
	}
	p.expect("TO SCHEMA")
	s.Schema = p.ref(toSchema)
	if _, wire := s.Format.Wire(); wire && p.accept("ENCODE") {
		s.RFC3339 = list(p, func() ast.Name {
			n := p.field()
			p.expect("AS RFC3339")
			return n
		})
	}
	if s.Format.Programs() {
		s.Programs = &ast.Programs{}
		p.programs(s.Programs)
	}
	return s
}

func (p *parser) codecFormat() vocab.CodecFormat {
	for _, f := range vocab.CodecFormats() {
		words := f.String()
		if _, wire := f.Wire(); wire {
			words += " SCHEMA"
		}
		if p.accept(words) {
			return f
		}
	}
	p.fail()
	return 0
}

// USING RESOURCE binding config MESSAGE string (BATCH MESSAGE string)?
func (p *parser) protobuf(b *ast.Protobuf) {
	p.expect("USING RESOURCE")
	p.binding(&b.Binding)
	p.config(&b.Config)
	p.expect("MESSAGE")
	b.Message = p.string()
	if p.accept("BATCH MESSAGE") {
		b.BatchMessage = p.newString()
	}
}

// WITH JAQ TRANSFORMATIONS (ON INGESTION string)? (ON EMITTING string (ON EMITTING
// BATCH string)?)?, with one of them at least
func (p *parser) programs(s *ast.Programs) {
	first := p.at
	p.expect("WITH JAQ TRANSFORMATIONS")
	if p.one("ON INGESTION", "ON EMITTING") == 0 {
		s.Ingestion = p.newString()
		if !p.accept("ON EMITTING") {
			s.Span = p.since(first)
			return
		}
	}
	s.Emitting = p.newString()
	if p.accept("ON EMITTING BATCH") {
		s.EmittingBatch = p.newString()
	}
	s.Span = p.since(first)
}

// newString takes a string of a clause that can be absent.
func (p *parser) newString() *ast.Text {
	t := p.string()
	return &t
}
