package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkSchemas is V3: the schemas that an entity joins fit.
func checkSchemas(c *Candidate, e *entry, f *found) {
	switch x := e.entity.(type) {
	case *model.Codec:
		c.checkCodec(x, f)
	case *model.HashMap:
		c.checkHashMap(x, f)
	case *model.Branch:
		c.checkKey(x, f)
	case *model.Ingestor:
		c.checkTimestamp(x, f)
	case *model.Generator:
		c.checkFeed(x.State, "generator", f)
	case *model.Correlator:
		c.checkTimeout(x.Left, x.OnLeft, f)
		c.checkTimeout(x.Right, x.OnRight, f)
	}
	if s := model.ShapeOf(e.entity); s != nil {
		for _, side := range s.Sides {
			c.checkInputs(side, f)
		}
		for _, dep := range s.States {
			c.checkFeed(dep.Relay, "dependency on materialized state", f)
		}
	}
}

func (c *Candidate) checkTimestamp(x *model.Ingestor, f *found) {
	if x.Timestamp == nil && c.pace != nil {
		f.add(ast.CodeInvalid, sourceSpan(x), "TIMESTAMP is mandatory in a paced domain").
			WithHint("TIMESTAMP NOW, or TIMESTAMP AT a DATETIME field, stands behind DECODE USING")
	}
	if x.Timestamp == nil || x.Timestamp.Now {
		return
	}
	schema, ok := c.decoded(x)
	if !ok {
		return
	}
	if at := schema.Index(x.Timestamp.At.Text); at < 0 || schema.Fields[at].Type.Kind != vocab.Datetime {
		f.add(ast.CodeSchemaIncompatible, x.Timestamp.At.Span,
			"TIMESTAMP AT '%s' needs a DATETIME field of SCHEMA '%s'", x.Timestamp.At.Text, schema.Name).
			Hint = nearest(x.Timestamp.At.Text, fieldNames(schema, func(field *vocab.Field) bool { return field.Type.Kind == vocab.Datetime }))
	}
}

// sourceSpan is where a fault of a whole ingestor points: what names its codec, or
// the end of its source.
func sourceSpan(x *model.Ingestor) vocab.Span {
	if x.Decode.Text != "" {
		return x.Decode.Span
	}
	return x.Source.Quiesce.Span
}

// fieldNames lists the fields of a schema that fit.
func fieldNames(s *vocab.Schema, fits func(*vocab.Field) bool) (names []string) {
	for i := range s.Fields {
		if fits(&s.Fields[i]) {
			names = append(names, s.Fields[i].Name)
		}
	}
	return names
}

// decoded is the schema of an ingestor's rows: what its codec decodes to, or what
// its clients send.
func (c *Candidate) decoded(x *model.Ingestor) (*vocab.Schema, bool) {
	if x.Source.Schema.Text != "" {
		return c.schema(x.Source.Schema.Text)
	}
	codec, ok := c.codec(x.Decode.Text)
	if !ok {
		return nil, false
	}
	return c.schema(codec.Schema.Text)
}

// checkKey demands fields of which equality is exact and always known.
func (c *Candidate) checkKey(b *model.Branch, f *found) {
	schema, _ := c.schema(b.Schema.Text)
	for _, field := range schema.Fields {
		if k := field.Type.Kind; !k.Integer() && k != vocab.Bool && k != vocab.String && k != vocab.Datetime {
			f.add(ast.CodeSchemaIncompatible, b.Schema.Span,
				"branch key field '%s' must be an integer, BOOL, STRING or DATETIME", field.Name)
		} else if field.Optional {
			f.add(ast.CodeSchemaIncompatible, b.Schema.Span, "branch key field '%s' must be required", field.Name)
		}
	}
}

// encoded is the schema of what an emitter sends: that of its codec, or what its
// clients take. Without either there is none.
func (c *Candidate) encoded(x *model.Emitter) *vocab.Schema {
	name := x.Sink.Schema.Text
	if x.Body.Codec != nil {
		codec, _ := c.codec(x.Body.Codec.Text)
		name = codec.Schema.Text
	}
	schema, _ := c.schema(name)
	return schema
}

// checkFeed keeps BYTES out of the state that a generator or a dependency reads.
func (c *Candidate) checkFeed(state ast.Name, who string, f *found) {
	schema, _ := c.relaySchema(state.Text)
	for _, field := range schema.Fields {
		if holdsBytes(field.Type) {
			f.add(ast.CodeSchemaIncompatible, state.Span, "a %s cannot read BYTES: field '%s' of SCHEMA '%s'", who, field.Name, schema.Name)
		}
	}
}

// checkTimeout demands the schema of a side of the relay that takes its rows
// without a match.
func (c *Candidate) checkTimeout(side ast.Inputs, t ast.CorrelationTimeout, f *found) {
	if t.To == nil {
		return
	}
	from, _ := c.relaySchema(side.From[0].Relay.Text)
	if to, _ := c.relaySchema(t.To.Text); to.Name != from.Name {
		f.add(ast.CodeSchemaIncompatible, t.To.Span, "RELAY '%s' has SCHEMA '%s', but the rows of RELAY '%s' have SCHEMA '%s'",
			t.To.Text, to.Name, side.From[0].Relay.Text, from.Name)
	}
}

// checkInputs demands the same schema, by name, of every relay that is read.
func (c *Candidate) checkInputs(in ast.Inputs, f *found) {
	first, _ := c.relaySchema(in.From[0].Relay.Text)
	for _, input := range in.From[1:] {
		if schema, _ := c.relaySchema(input.Relay.Text); schema.Name != first.Name {
			f.add(ast.CodeSchemaIncompatible, input.Relay.Span,
				"RELAY '%s' has SCHEMA '%s', but RELAY '%s' has SCHEMA '%s'; all inputs need the same schema",
				input.Relay.Text, schema.Name, in.From[0].Relay.Text, first.Name).
				WithHint("a JUNCTION in front converts one of them")
		}
	}
}
