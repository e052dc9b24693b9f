package model

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Codec joins a payload format to an internal schema. Wire and RFC3339 belong to
// the formats with a wire schema, Programs to those that run programs, Protobuf to
// PROTOBUF.
type Codec struct {
	Name     string
	Format   vocab.CodecFormat
	Wire     ast.Name
	Protobuf *Protobuf
	Schema   ast.Name
	RFC3339  []ast.Name // fields written as RFC 3339 text
	Programs *ast.Programs
}

// Protobuf is what a codec compiles. BatchMessage is nil where no payload holds
// several records.
type Protobuf struct {
	Binding      ast.Binding
	Config       []vocab.ConfigEntry
	Message      string
	BatchMessage *string
}

// Kind returns the kind.
func (*Codec) Kind() vocab.EntityKind { return vocab.EntityCodec }

// EntityName returns the name.
func (c *Codec) EntityName() string { return c.Name }

// Refs returns the wire schema, the resource and the schema.
func (c *Codec) Refs() []Ref {
	var refs []Ref
	if format, ok := c.Format.Wire(); ok {
		refs = append(refs, ref(format.Kind(), c.Wire))
	}
	return append(appendBound(refs, c.Bound()), ref(vocab.EntitySchema, c.Schema))
}

// Bound returns the resource of a PROTOBUF codec.
func (c *Codec) Bound() *ast.Binding {
	if c.Protobuf == nil {
		return nil
	}
	return &c.Protobuf.Binding
}

// Decodes reports whether the codec turns payloads into records.
func (c *Codec) Decodes() bool { return c.Programs == nil || c.Programs.Ingestion != nil }

// Encodes reports whether the codec turns records into payloads. That of SYSLOG
// depends on the schema.
func (c *Codec) Encodes(schema *vocab.Schema) bool {
	if c.Format == vocab.FormatSyslog {
		return schema != nil && schema.Index("facility") >= 0 && schema.Index("severity") >= 0 && schema.Index("message") >= 0
	}
	return c.Programs == nil || c.Programs.Emitting != nil
}

func lowerCodec(c *checker, d *ast.CreateCodec) *Codec {
	var names nameSet
	for _, f := range d.RFC3339 {
		c.unique(&names, f, "field '%s' has two ENCODE rules")
	}
	m := &Codec{Name: d.Name.Text, Format: d.Format, Wire: d.Wire, Schema: d.Schema, RFC3339: d.RFC3339, Programs: d.Programs}
	if b := d.Protobuf; b != nil {
		m.Protobuf = &Protobuf{Binding: b.Binding, Config: c.protobufConfig(b.Config), Message: c.message(b.Message, "MESSAGE")}
		if b.BatchMessage != nil {
			batch := c.message(*b.BatchMessage, "BATCH MESSAGE")
			m.Protobuf.BatchMessage = &batch
		}
	}
	if d.Programs != nil {
		c.program(d.Programs.Ingestion, "ON INGESTION")
		c.program(d.Programs.Emitting, "ON EMITTING")
		c.program(d.Programs.EmittingBatch, "ON EMITTING BATCH")
	}
	return m
}

// message checks the full name of a protobuf message.
func (c *checker) message(t ast.Text, clause string) string {
	for part := range strings.SplitSeq(t.Text, ".") {
		if !identifier(part) {
			c.add(ast.Errorf(ast.CodeInvalid, t.Span, "%s '%s' is no message name", clause, t.Text).
				WithHint("write the full name, such as 'shop.v1.Order'"))
			break
		}
	}
	return t.Text
}

func identifier(s string) bool {
	for i := range len(s) {
		letter := s[i] == '_' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z'
		if !letter && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// protobufKeys are the keys of CONFIG where protobuf sources are compiled: files
// and the roots of their imports, relative to the root of the resource.
var protobufKeys = []string{"file", "files", "include", "includes"}

// ProtobufKeys lists the keys of CONFIG where protobuf sources are compiled.
func ProtobufKeys() []string { return slices.Clone(protobufKeys) }

func (c *checker) protobufConfig(entries []ast.ConfigEntry) []vocab.ConfigEntry {
	list := make([]vocab.ConfigEntry, len(entries))
	var keys nameSet
	for i, e := range entries {
		c.unique(&keys, ast.Name(e.Key), "duplicate CONFIG key '%s'")
		list[i] = vocab.ConfigEntry{Key: e.Key.Text, Value: e.Value.Text}
		switch e.Key.Text {
		case "file", "include":
			c.resourcePath(e.Value, e.Value.Text, "CONFIG key '"+e.Key.Text+"'")
		case "files", "includes":
			for path := range strings.SplitSeq(e.Value.Text, ",") {
				c.resourcePath(e.Value, strings.TrimSpace(path), "CONFIG key '"+e.Key.Text+"'")
			}
		default:
			d := ast.Errorf(ast.CodeInvalid, e.Key.Span, "CONFIG key '%s' is not known to PROTOBUF", e.Key.Text)
			d.Hint = "keys are " + strings.Join(protobufKeys, ", ")
			if near := vocab.Nearest(e.Key.Text, protobufKeys); near != "" {
				d.Hint = "did you mean '" + near + "'?"
			}
			c.add(d)
		}
	}
	return list
}

// resourcePath checks a path inside of a resource.
func (c *checker) resourcePath(at ast.Text, path, clause string) {
	switch {
	case path == "":
		c.invalid(at.Span, "%s must not be empty", clause)
	case strings.HasPrefix(path, "/"):
		c.invalid(at.Span, "%s '%s' must be relative to the root of the resource", clause, path)
	case strings.Contains("/"+path+"/", "/../"):
		c.invalid(at.Span, "%s '%s' must have no '..' segment", clause, path)
	case strings.ContainsAny(path, "\\\x00"):
		c.invalid(at.Span, "%s '%s' must separate its segments with '/'", clause, path)
	}
}

// program checks what can be said of a jq program without compiling it.
func (c *checker) program(t *ast.Text, clause string) {
	switch {
	case t == nil:
	case strings.TrimSpace(t.Text) == "":
		c.invalid(t.Span, "%s program is empty", clause)
	case len(t.Text) > programBytesMax:
		c.invalid(t.Span, "%s program is longer than %d bytes", clause, programBytesMax)
	default:
		if name := forbidden(t.Text); name != "" {
			c.invalid(t.Span, "%s program: '%s' is not available", clause, name)
		}
	}
}
