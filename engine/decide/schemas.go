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
	case *model.Branch:
		c.checkKey(x, f)
	case *model.Ingestor:
		c.checkTimestamp(x, f)
	case *model.Generator:
		c.checkFeed(x, f)
	case *model.Correlator:
		c.checkTimeout(x.Left, x.OnLeft, f)
		c.checkTimeout(x.Right, x.OnRight, f)
	}
	if s := model.ShapeOf(e.entity); s != nil {
		for _, side := range s.Sides {
			c.checkInputs(side, f)
		}
	}
}

// checkCodec compares the members of the wire schema with the columns of the
// internal one, in wire order, and reports every failing field.
func (c *Candidate) checkCodec(codec *model.Codec, f *found) {
	wire, _ := lookup[*model.WireSchema](c, vocab.EntityWireJSON, codec.Wire.Text)
	schema, _ := c.schema(codec.Schema.Text)
	rules := map[string]vocab.Span{}
	for _, rule := range codec.RFC3339 {
		rules[rule.Text] = rule.Span
	}
	bound := make([]bool, len(schema.Fields))
	for _, w := range wire.Fields {
		at := schema.Index(w.Name)
		if at < 0 {
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span, "wire field '%s' has no internal field", w.Name)
			continue
		}
		bound[at] = true
		field := &schema.Fields[at]
		switch {
		case w.Optional && !field.Optional:
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span,
				"field '%s' is optional in the wire schema and required in the internal schema", w.Name)
		case !w.Optional && field.Optional:
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span,
				"field '%s' is required in the wire schema and optional in the internal schema", w.Name)
		}
		_, rfc3339 := rules[w.Name]
		switch {
		case !carries(w.Type, field.Type.Kind):
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span, "field '%s': wire %s does not carry %s", w.Name, w.Type, field.Type)
		case field.Type.Kind == vocab.Datetime && !rfc3339:
			f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "field '%s' needs ENCODE %s AS RFC3339", w.Name, w.Name)
		}
	}
	for i, ok := range bound {
		if !ok {
			f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "internal field '%s' has no wire field", schema.Fields[i].Name)
		}
	}
	for _, rule := range codec.RFC3339 {
		if at := schema.Index(rule.Text); at < 0 || schema.Fields[at].Type.Kind != vocab.Datetime {
			f.add(ast.CodeSchemaIncompatible, rule.Span, "ENCODE %s AS RFC3339 needs a DATETIME field of that name", rule.Text)
		}
	}
}

// carries says which wire type carries which internal type. A DATETIME travels as
// text under an ENCODE rule.
func carries(w vocab.WireType, k vocab.Kind) bool {
	switch {
	case k.Integer():
		return w == vocab.WireInteger
	case k.Float():
		return w == vocab.WireNumber
	case k == vocab.Bool:
		return w == vocab.WireBoolean
	case k == vocab.String || k == vocab.Datetime:
		return w == vocab.WireString
	case k == vocab.Bytes:
		return w == vocab.WireBytes
	case k == vocab.Array || k == vocab.Vec:
		return w == vocab.WireArray
	}
	return false
}

func (c *Candidate) checkTimestamp(x *model.Ingestor, f *found) {
	if x.Timestamp == nil || x.Timestamp.Now {
		return
	}
	schema, ok := c.decoded(x)
	if !ok {
		return
	}
	if at := schema.Index(x.Timestamp.At.Text); at < 0 || schema.Fields[at].Type.Kind != vocab.Datetime {
		f.add(ast.CodeSchemaIncompatible, x.Timestamp.At.Span,
			"TIMESTAMP AT '%s' needs a DATETIME field of SCHEMA '%s'", x.Timestamp.At.Text, schema.Name)
	}
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

// checkFeed keeps BYTES out of what a generator makes rows of.
func (c *Candidate) checkFeed(g *model.Generator, f *found) {
	schema, _ := c.relaySchema(g.State.Text)
	for _, field := range schema.Fields {
		if holdsBytes(field.Type) {
			f.add(ast.CodeSchemaIncompatible, g.State.Span, "a generator cannot read BYTES: field '%s' of SCHEMA '%s'", field.Name, schema.Name)
		}
	}
}

func holdsBytes(t vocab.Type) bool {
	for ; t.Elem != nil; t = *t.Elem {
	}
	return t.Kind == vocab.Bytes
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
				input.Relay.Text, schema.Name, in.From[0].Relay.Text, first.Name)
		}
	}
}
