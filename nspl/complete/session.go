package complete

import (
	"slices"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// configKeys suggests the keys of CONFIG that the statement takes and does not have
// yet. Values are never suggested.
func (w *writer) configKeys() {
	open := true // other keys may stand there too
	switch s := w.statement().(type) {
	case *ast.CreateClient:
		for _, key := range s.Type.ConfigKeys() {
			var notes []string
			if key.Required {
				notes = append(notes, "required")
			}
			if key.Secret {
				notes = append(notes, "never shown")
			}
			if key.Never == "" {
				w.configKey(key.Name, strings.Join(notes, ", "), s.Config)
			}
		}
		open = s.Type.OpenConfig()
	case *ast.CreateCodec:
		if s.Protobuf != nil {
			w.protobufKeys(s.Protobuf.Config)
			open = false
		}
	case *ast.CreateSignaling:
		if s.Protobuf != nil {
			w.protobufKeys(s.Protobuf.Config)
			open = false
		}
	}
	if open && w.quote == 0 {
		w.placeholder("string", KindLiteral)
	}
}

func (w *writer) protobufKeys(given []ast.ConfigEntry) {
	for _, key := range model.ProtobufKeys() {
		w.configKey(key, "", given)
	}
}

func (w *writer) configKey(key, detail string, given []ast.ConfigEntry) {
	if !w.matches(key) || slices.ContainsFunc(given, func(e ast.ConfigEntry) bool { return e.Key.Text == key }) {
		return
	}
	s := Suggestion{Display: key, Kind: KindLiteral, Edit: w.edit("'" + key + "'"), Detail: detail}
	if w.quote != 0 {
		s.Edit.Text = string(w.quote) + key + string(w.quote)
	}
	w.put(s)
}

// versions suggests the completed versions of a resource.
func (w *writer) versions(resource string) {
	if w.catalog == nil {
		return
	}
	for _, n := range w.catalog.Versions(resource) {
		w.token(strconv.FormatUint(n, 10), KindReference, vocab.EntityResource.String()+" "+resource)
	}
}

// subscriptions suggests those of the session.
func (w *writer) subscriptions() {
	var names []string
	if w.catalog != nil {
		names = w.catalog.Subscriptions()
	}
	for _, name := range names {
		w.name(name, KindReference, "SUBSCRIPTION", word(name))
	}
	if len(names) == 0 {
		w.placeholder("name", KindName)
	}
}
