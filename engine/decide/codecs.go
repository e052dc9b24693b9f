package decide

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkCodec is the part of V3 that concerns codecs. What programs make of a
// document shows only when they run.
func (c *Candidate) checkCodec(codec *model.Codec, f *found) {
	schema, _ := c.schema(codec.Schema.Text)
	if format, ok := codec.Format.Wire(); ok {
		wire, _ := lookup[*model.WireSchema](c, format.Kind(), codec.Wire.Text)
		checkMapping(codec, wire, schema, f)
	}
	if codec.Format == vocab.FormatSyslog {
		checkSyslog(codec, schema, f)
	}
}

// checkMapping compares the members of the wire schema with the columns of the
// internal one, in wire order, and reports every failing field.
func checkMapping(codec *model.Codec, wire *model.WireSchema, schema *vocab.Schema, f *found) {
	rules := map[string]bool{}
	for _, rule := range codec.RFC3339 {
		rules[rule.Text] = true
	}
	bound := make([]bool, len(schema.Fields))
	for _, w := range wire.Fields {
		at := schema.Index(w.Name)
		if at < 0 {
			d := f.add(ast.CodeSchemaIncompatible, codec.Wire.Span, "wire field '%s' has no internal field", w.Name)
			unbound := func(field *vocab.Field) bool { return wireIndex(wire, field.Name) < 0 }
			if d.Hint = nearest(w.Name, fieldNames(schema, unbound)); d.Hint == "" {
				d.WithHint("a field of SCHEMA '%s' has to have the name", schema.Name)
			}
			continue
		}
		bound[at] = true
		field := &schema.Fields[at]
		switch {
		case w.Optional && !field.Optional:
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span,
				"field '%s' is optional in the wire schema and required in the internal schema", w.Name).
				WithHint("make it OPTIONAL in SCHEMA '%s', or required in %s '%s'", schema.Name, wire.Format.Kind(), wire.Name)
		case !w.Optional && field.Optional:
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span,
				"field '%s' is required in the wire schema and optional in the internal schema", w.Name).
				WithHint("make it OPTIONAL in %s '%s', or required in SCHEMA '%s'", wire.Format.Kind(), wire.Name, schema.Name)
		}
		switch {
		case !carries(w.Type, field.Type.Kind):
			f.add(ast.CodeSchemaIncompatible, codec.Wire.Span,
				"field '%s': wire %s does not carry %s", w.Name, strings.ToUpper(w.Type.String()), field.Type).Hint = carriers(wire.Format, field.Type)
		case field.Type.Kind == vocab.Datetime && !rules[w.Name]:
			f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "field '%s' needs ENCODE %s AS RFC3339", w.Name, w.Name)
		}
	}
	for i, ok := range bound {
		if field := schema.Fields[i]; !ok {
			d := f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "internal field '%s' has no wire field", field.Name)
			if names := carriedBy(wire.Format, field.Type.Kind); len(names) > 0 {
				optional := ""
				if field.Optional {
					optional = " OPTIONAL"
				}
				d.WithHint("%s '%s' lacks %s %s%s", wire.Format.Kind(), wire.Name, field.Name, names[0], optional)
			} else {
				d.Hint = carriers(wire.Format, field.Type)
			}
		}
	}
	for _, rule := range codec.RFC3339 {
		if at := schema.Index(rule.Text); at < 0 || schema.Fields[at].Type.Kind != vocab.Datetime {
			f.add(ast.CodeSchemaIncompatible, rule.Span, "ENCODE %s AS RFC3339 needs a DATETIME field of that name", rule.Text).
				Hint = nearest(rule.Text, fieldNames(schema, func(field *vocab.Field) bool { return field.Type.Kind == vocab.Datetime && !rules[field.Name] }))
		}
	}
}

// wireIndex returns the place of a wire field, -1 if there is none.
func wireIndex(wire *model.WireSchema, name string) int {
	return slices.IndexFunc(wire.Fields, func(w model.WireField) bool { return w.Name == name })
}

// carriedBy lists the wire types of a format that carry an internal type.
func carriedBy(format vocab.WireFormat, k vocab.Kind) (names []string) {
	for _, t := range format.Types() {
		if carries(t, k) {
			names = append(names, t.String())
		}
	}
	return names
}

// carriers says which wire type carries an internal type.
func carriers(format vocab.WireFormat, t vocab.Type) string {
	if names := carriedBy(format, t.Kind); len(names) > 0 {
		return "wire type " + strings.Join(names, " or ") + " carries " + t.String()
	}
	return "no wire type of " + format.String() + " carries " + t.String() + ": widen the internal field"
}

// carries says which wire type carries which internal type. A DATETIME travels as
// text under an ENCODE rule.
func carries(w vocab.WireType, k vocab.Kind) bool {
	switch w {
	case vocab.WireInteger:
		return k.Integer()
	case vocab.WireNumber:
		return k.Float()
	case vocab.AvroInt:
		return k == vocab.I32
	case vocab.AvroLong:
		return k == vocab.I64
	case vocab.AvroFloat:
		return k == vocab.F32
	case vocab.AvroDouble:
		return k == vocab.F64
	case vocab.WireBoolean, vocab.AvroBoolean:
		return k == vocab.Bool
	case vocab.WireString, vocab.AvroString:
		return k == vocab.String || k == vocab.Datetime
	case vocab.WireBytes, vocab.AvroBytes:
		return k == vocab.Bytes
	case vocab.WireArray, vocab.AvroArray:
		return k == vocab.Array || k == vocab.Vec
	}
	return false
}

// syslogFields is the fixed contract of SYSLOG codecs: each field with its type
// and whether it is optional.
var syslogFields = []vocab.Field{
	{Name: "facility", Type: vocab.Scalar(vocab.U8)}, {Name: "severity", Type: vocab.Scalar(vocab.U8)},
	{Name: "timestamp", Type: vocab.Scalar(vocab.Datetime), Optional: true}, {Name: "hostname", Type: vocab.Scalar(vocab.String), Optional: true},
	{Name: "app_name", Type: vocab.Scalar(vocab.String), Optional: true}, {Name: "proc_id", Type: vocab.Scalar(vocab.String), Optional: true},
	{Name: "msg_id", Type: vocab.Scalar(vocab.String), Optional: true}, {Name: "structured_data", Type: vocab.Scalar(vocab.String), Optional: true},
	{Name: "message", Type: vocab.Scalar(vocab.String)},
}

func checkSyslog(codec *model.Codec, schema *vocab.Schema, f *found) {
	contract := vocab.Schema{Fields: syslogFields}
	var names []string
	for _, field := range syslogFields {
		names = append(names, field.Name)
	}
	for _, field := range schema.Fields {
		at := contract.Index(field.Name)
		if at < 0 {
			f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "SYSLOG field '%s' must be one of %s", field.Name, strings.Join(names, ", "))
			continue
		}
		want := syslogFields[at]
		if !field.Type.Equal(want.Type) || field.Optional != want.Optional {
			form := want.Type.String()
			if want.Optional {
				form += " OPTIONAL"
			}
			f.add(ast.CodeSchemaIncompatible, codec.Schema.Span, "SYSLOG field '%s' must be %s", field.Name, form)
		}
	}
}

// checkHashMap is the part of V3 that concerns hash maps: records are found by a
// required field that compares exactly, and shown as text.
func (c *Candidate) checkHashMap(x *model.HashMap, f *found) {
	codec, _ := c.codec(x.Decode.Text)
	schema, _ := c.schema(codec.Schema.Text)
	switch at := schema.Index(x.Key.Text); {
	case at < 0:
		f.add(ast.CodeSchemaIncompatible, x.Key.Span, "SCHEMA '%s' has no field '%s' to be the KEY", schema.Name, x.Key.Text).
			Hint = nearest(x.Key.Text, fieldNames(schema, func(*vocab.Field) bool { return true }))
	case schema.Fields[at].Optional:
		f.add(ast.CodeSchemaIncompatible, x.Key.Span, "hash map key field '%s' must be required", x.Key.Text)
	default:
		if k := schema.Fields[at].Type.Kind; !k.Scalar() || k == vocab.Bytes || k.Float() {
			f.add(ast.CodeSchemaIncompatible, x.Key.Span, "hash map key field '%s' must be an integer, BOOL, STRING or DATETIME", x.Key.Text)
		}
	}
	for _, field := range schema.Fields {
		if holdsBytes(field.Type) {
			f.add(ast.CodeSchemaIncompatible, x.Decode.Span, "field '%s' of SCHEMA '%s' holds BYTES, which no hash map can", field.Name, schema.Name)
		}
	}
}

// holdsBytes reports whether a type is BYTES, or a list of them.
func holdsBytes(t vocab.Type) bool {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t.Kind == vocab.Bytes
}

// checkDirection demands a codec that decodes, or one that encodes. It exists.
func (c *Candidate) checkDirection(name ast.Name, encode bool, f *found) {
	codec, ok := c.codec(name.Text)
	if !ok {
		return
	}
	schema, _ := c.schema(codec.Schema.Text)
	switch {
	case encode && !codec.Encodes(schema):
		d := f.add(ast.CodeRefKind, name.Span, "codec '%s' cannot encode", name.Text)
		if codec.Format == vocab.FormatSyslog {
			d.WithHint("a SYSLOG codec encodes a schema with facility, severity and message")
		} else {
			d.WithHint("give CODEC '%s' a program ON EMITTING", name.Text)
		}
	case !encode && !codec.Decodes():
		f.add(ast.CodeRefKind, name.Span, "codec '%s' cannot decode", name.Text).
			WithHint("give CODEC '%s' a program ON INGESTION", name.Text)
	}
}
