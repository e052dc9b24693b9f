package session

import (
	"encoding/hex"
	"fmt"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// configuration describes what configures operators, and reports whether the kind
// can be described.
func (p *describer) configuration(e model.Entity) bool {
	switch x := e.(type) {
	case *model.Codec:
		p.codec(x)
	case *model.Endpoint:
		p.endpoint(x)
	case *model.HashMap:
		p.hashMap(x)
	default:
		return false
	}
	return true
}

func (p *describer) codec(x *model.Codec) {
	p.text("codec", "%s", x.Name)
	p.text("format", "%s", x.Format)
	schema := p.schema(x.Schema.Text)
	p.text("schema", "%s", x.Schema.Text)
	wire := p.wireSchema(x)
	if wire != nil {
		p.text("wire schema", "%s", wire.Name)
		p.text("mode", "%s", map[bool]string{true: "STRICT", false: "LOOSE"}[wire.Strict])
		var rules []string
		for _, rule := range x.RFC3339 {
			rules = append(rules, rule.Text+" AS RFC3339")
		}
		p.text("encode rules", "%s", strings.Join(rules, ", "))
	}
	p.text("decodes", "%s", yesNo(x.Decodes()))
	p.text("encodes", "%s", yesNo(x.Encodes(schema)))
	p.text("batch", "%s", container(x, schema))
	if b := x.Protobuf; b != nil {
		p.text("resource", "%s", bound(&b.Binding))
		p.text("message", "%s", b.Message)
		batch := ""
		if b.BatchMessage != nil {
			batch = *b.BatchMessage
		}
		p.text("batch message", "%s", batch)
	}
	if x.Programs != nil {
		p.program("on ingestion", x.Programs.Ingestion)
		p.program("on emitting", x.Programs.Emitting)
		p.program("on emitting batch", x.Programs.EmittingBatch)
	}
	if wire != nil {
		p.members(wire, schema)
	}
}

func (p *describer) program(key string, t *ast.Text) {
	if t != nil {
		p.text(key, "%s", t.Text)
	}
}

// members lists what the wire schema declares, and for AVRO the schema that a
// datum has.
func (p *describer) members(wire *model.WireSchema, schema *vocab.Schema) {
	var fields []document.Value
	for _, f := range wire.Fields {
		fields = append(fields, new(document.Map).Set(document.Name, document.Text(f.Name)).
			Set("wire", document.Text(f.Type.String())).Set("optional", document.Bool(f.Optional)).Value())
	}
	p.out.Set("fields", document.List(fields...))
	if wire.Format == vocab.WireAvro && schema != nil {
		p.text("avro schema", "%s", avroSchema(wire, schema, p.domain.Name))
	}
}

func (p *describer) schema(name string) *vocab.Schema {
	m, ok := p.q.state().Model(p.domain.Name, catalog.Key{Kind: vocab.EntitySchema, Name: name})
	if !ok {
		return nil
	}
	return &m.Definition.(*model.Schema).Schema
}

func (p *describer) wireSchema(x *model.Codec) *model.WireSchema {
	format, ok := x.Format.Wire()
	if !ok {
		return nil
	}
	m, ok := p.q.state().Model(p.domain.Name, catalog.Key{Kind: format.Kind(), Name: x.Wire.Text})
	if !ok {
		return nil
	}
	return m.Definition.(*model.WireSchema)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// bound writes a resource with its version.
func bound(b *ast.Binding) string {
	return fmt.Sprintf("%s@%d", b.Resource.Text, b.Version.Number.Value)
}

// container says what a payload of several records is.
func container(x *model.Codec, schema *vocab.Schema) string {
	switch {
	case !x.Encodes(schema), x.Protobuf != nil && x.Protobuf.BatchMessage == nil:
		return "none"
	case x.Programs != nil && x.Programs.EmittingBatch != nil:
		return "program"
	}
	return [...]string{
		vocab.FormatWireJSON: "array", vocab.FormatWireCBOR: "array", vocab.FormatWireAvro: "array", vocab.FormatJSON: "array",
		vocab.FormatYAML: "sequence", vocab.FormatTOML: "table batch", vocab.FormatXML: "element batch", vocab.FormatCBOR: "array",
		vocab.FormatProtobuf: "batch message", vocab.FormatSyslog: "message",
	}[x.Format]
}

// avroSchema derives the record that a datum of the wire schema is.
func avroSchema(wire *model.WireSchema, schema *vocab.Schema, domain string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"record","name":"%s","namespace":"plexus.%s","fields":[`, wire.Name, domain)
	for i, f := range wire.Fields {
		if i > 0 {
			b.WriteString(",")
		}
		t := `"` + strings.ToLower(f.Type.String()) + `"`
		if at := schema.Index(f.Name); at >= 0 && f.Type == vocab.AvroArray {
			t = avroItems(schema.Fields[at].Type)
		}
		if f.Optional {
			t = `["null",` + t + `]`
		}
		fmt.Fprintf(&b, `{"name":"%s","type":%s}`, f.Name, t)
	}
	b.WriteString("]}")
	return b.String()
}

func avroItems(t vocab.Type) string {
	switch k := t.Kind; {
	case t.Elem != nil:
		return `{"type":"array","items":` + avroItems(*t.Elem) + `}`
	case k.Integer():
		return `"long"`
	case k == vocab.F32:
		return `"float"`
	case k == vocab.F64:
		return `"double"`
	case k == vocab.Bool:
		return `"boolean"`
	case k == vocab.Bytes:
		return `"bytes"`
	}
	return `"string"`
}

func (p *describer) endpoint(x *model.Endpoint) {
	p.text("endpoint", "%s", x.Name)
	p.text("type", "%s", x.Type)
	p.text("vhost", "%s", x.VHost.Text)
	p.text("path", "%s", x.Path)
	if x.Signaling != nil {
		p.text("signaling protocol", "%s", x.Signaling.Text)
	}
	var intake []document.Value
	for m := range p.q.state().Models(p.domain.Name) {
		if in, ok := m.Definition.(*model.Ingestor); ok && in.Source.Endpoint.Text == x.Name {
			intake = append(intake, p.q.ingestorLine(p.ctx, p.domain, in))
		}
	}
	p.out.Set("intake", document.List(intake...))
}

func (p *describer) hashMap(x *model.HashMap) {
	p.text("hash map", "%s", x.Name)
	p.placed()
	p.text("key", "%s", x.Key.Text)
	p.text("resource", "%s", bound(&x.Binding))
	p.text("path", "%s", x.Path)
	p.text("codec", "%s", x.Decode.Text)
	p.text("entries", "unavailable(not available yet: content of resources)")
	p.out.Set("references", document.List(p.q.referrers(p.domain, p.model.Key)...))
}

// referrers lists what refers to a definition.
func (q *request) referrers(d *catalog.Domain, key catalog.Key) (list []document.Value) {
	for m := range q.state().Models(d.Name) {
		for _, ref := range m.Definition.Refs() {
			if ref.Kind == key.Kind && ref.Name == key.Name {
				list = append(list, new(document.Map).Set("kind", document.Text(m.Kind.Snake())).Set("name", document.Text(m.Name)).Value())
				break
			}
		}
	}
	return list
}

// describeResource lists the versions of a resource, or shows one of them.
func (q *request) describeResource(d *catalog.Domain, x *ast.Describe) (document.Value, ast.Diagnostics) {
	r, ok := q.state().Resource(d.Name, x.Name.Text)
	if !ok {
		missing := ast.Errorf(ast.CodeRefMissing, x.Name.Span, "%s '%s' does not exist", x.Kind, x.Name.Text).
			WithHint("%s", decide.Meant(q.state(), d.Name, catalog.Key{Kind: x.Kind, Name: x.Name.Text}))
		return nil, ast.Diagnostics{missing}.About(ast.Entity{Kind: x.Kind, Name: x.Name.Text})
	}
	var numbers []string
	var versions []document.Value
	for i := range r.Versions {
		v := &r.Versions[i]
		numbers = append(numbers, fmt.Sprint(v.Number))
		if x.Version != nil && x.Version.Value != v.Number {
			continue
		}
		m := new(document.Map).Set("version", document.Uint(v.Number)).Set("state", document.Text(v.State.String())).
			Set("digest", document.TextOrNone(hex.EncodeToString([]byte(v.Digest)))).Set("files", document.Uint(v.Files))
		if v.Reason != "" {
			m.Set("reason", document.Text(v.Reason))
		}
		versions = append(versions, m.Value())
	}
	if x.Version != nil && len(versions) == 0 {
		return nil, ast.Diagnostics{ast.Errorf(decide.CodeResourceVersion, x.Version.Span, "resource '%s' has no version %d", r.Name, x.Version.Value)}
	}
	if len(numbers) == 0 {
		numbers = []string{none}
	}
	latest := document.None()
	if n := r.Latest(); n > 0 {
		latest = document.Uint(n)
	}
	return new(document.Map).Set("resource", document.Text(r.Name)).Set("latest", latest).
		Set("versions", document.Text(strings.Join(numbers, ","))).Set("content", document.List(versions...)).
		Set("references", document.List(q.binders(d, r, x.Version)...)).Value(), nil
}

// binders lists what binds a resource, or one version of it.
func (q *request) binders(d *catalog.Domain, r *catalog.Resource, version *ast.Uint) (list []document.Value) {
	for m := range q.state().Models(d.Name) {
		b := model.Bound(m.Definition)
		if b == nil || b.Resource.Text != r.Name || version != nil && b.Version.Number.Value != version.Value {
			continue
		}
		list = append(list, new(document.Map).Set("kind", document.Text(m.Kind.Snake())).Set("name", document.Text(m.Name)).
			Set("version", document.Uint(b.Version.Number.Value)).Value())
	}
	return list
}

// pick refuses to show one branch of a relay: it checks the key, and no branch
// runs yet.
func (q *request) pick(d *catalog.Domain, x *ast.Describe, relay *model.Relay) ast.Diagnostics {
	if relay.Branch.By == nil {
		return refuseAt(ast.CodeInvalid, x, "RELAY '%s' is unbranched: it takes no WHERE", relay.Name)
	}
	if found := q.checkKey(d, relay.Branch.By.Text, x.Pick, x); len(found) > 0 {
		return found
	}
	return refuseAt(ast.CodeUnavailable, x, "not available yet: branched relays")
}
