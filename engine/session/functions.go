package session

import (
	"strings"

	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// showUDFs is SHOW UDFS: what callers see of each function.
func (q *request) showUDFs(domain string) document.Value {
	var items []document.Value
	for m := range q.state().Models(domain) {
		if u, ok := m.Definition.(*model.UDF); ok {
			items = append(items, new(document.Map).Set(document.Name, document.Text(u.Name)).
				Set("language", document.Text(u.Language.String())).Set("signature", document.Text(decide.Function(u).Signature())).
				Set("volatility", document.Text(volatility(u))).Set("hash", document.Text(u.Hash())).Value())
		}
	}
	return document.List(items...)
}

// describeUDF is DESCRIBE UDF.
func (q *request) describeUDF(domain string, u *model.UDF) document.Value {
	m := new(document.Map).Set("udf", document.Text(u.Name)).Set("language", document.Text(u.Language.String())).
		Set("signature", document.Text(decide.Function(u).Signature())).Set("volatility", document.Text(volatility(u))).
		Set("content hash", document.Text(u.Hash())).Set("tests", document.Int(u.Cases()))
	if b := u.Binding; b != nil {
		m.Set("resource", document.Text(b.Resource.Text)).Set("resource version", document.Uint(b.Version.Number.Value)).
			Set("file", document.Text(u.File)).Set("export", document.Text(u.Export))
	}
	var users []string
	for other := range q.state().Models(domain) {
		for _, ref := range model.References(other.Definition) {
			if ref.Kind == vocab.EntityUDF && ref.Name == u.Name {
				users = append(users, other.Key.String())
				break
			}
		}
	}
	referenced := none
	if users != nil {
		referenced = strings.Join(users, ", ")
	}
	return m.Set("referenced by", document.Text(referenced)).Value()
}

func volatility(u *model.UDF) string {
	if u.Volatile {
		return "VOLATILE"
	}
	return "deterministic"
}
