package session

import (
	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// showState answers SHOW RELAY … MATERIALIZED STATE. A relay that is not executed
// holds no record; no node executes materialized ones yet.
func (q *request) showState(x *ast.ShowState) (document.Value, ast.Diagnostics) {
	m, found := q.model(x, vocab.EntityRelay, x.Relay)
	if len(found) > 0 {
		return nil, found
	}
	if relay := m.Definition.(*model.Relay); !relay.Materialized {
		d := ast.Errorf(ast.CodeRefKind, x.Relay.Span, "relay '%s' has no materialized state", relay.Name)
		return nil, ast.Diagnostics{d}.About(ast.Entity{Kind: vocab.EntityRelay, Name: relay.Name})
	}
	return line("relay '%s' materialized state is empty", x.Relay.Text), nil
}

// lookup checks what LOOKUP names; no node holds the records of hash maps yet.
func (q *request) lookup(x *ast.Lookup) ast.Diagnostics {
	m, found := q.model(x, vocab.EntityHashMap, x.Map)
	if len(found) > 0 {
		return found
	}
	if key, ok := q.keyOf(m); ok && !typed.Reads(x.Key.Text, key.Kind) {
		return ast.Diagnostics{ast.Errorf(ast.CodeInvalid, x.Key.Span, "key '%s' is no %s, which hash map '%s' is looked up by", x.Key.Text, key, m.Name)}
	}
	return refuseAt(ast.CodeUnavailable, x, "not available yet: content of resources, which hash map '%s' needs", x.Map.Text)
}

// keyOf returns the type of the key of a hash map.
func (q *request) keyOf(m *catalog.Model) (t vocab.Type, ok bool) {
	h := m.Definition.(*model.HashMap)
	codec, ok := q.state().Model(m.Domain, catalog.Key{Kind: vocab.EntityCodec, Name: h.Decode.Text})
	if !ok {
		return t, false
	}
	schema, ok := q.state().Model(m.Domain, catalog.Key{Kind: vocab.EntitySchema, Name: codec.Definition.(*model.Codec).Schema.Text})
	if !ok {
		return t, false
	}
	s := &schema.Definition.(*model.Schema).Schema
	at := s.Index(h.Key.Text)
	if at < 0 {
		return t, false
	}
	return s.Fields[at].Type, true
}

// checkKey checks the fields of one branch key against the branch: each of them
// once, with a literal of its type.
func (q *request) checkKey(d *catalog.Domain, branch string, values []ast.KeyValue, at ast.Statement) ast.Diagnostics {
	b, ok := q.state().Model(d.Name, catalog.Key{Kind: vocab.EntityBranch, Name: branch})
	if !ok {
		return refuseAt(ast.CodeRefMissing, at, "BRANCH '%s' does not exist", branch)
	}
	s, ok := q.state().Model(d.Name, catalog.Key{Kind: vocab.EntitySchema, Name: b.Definition.(*model.Branch).Schema.Text})
	if !ok {
		return refuseAt(ast.CodeRefMissing, at, "BRANCH '%s' has no schema", branch)
	}
	return decide.CheckKey(&s.Definition.(*model.Schema).Schema, values, at.Place())
}
