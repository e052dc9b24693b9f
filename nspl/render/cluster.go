package render

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

func (w *writer) nodeControl(s *ast.NodeControl) {
	w.put(s.Verb.String(), " NODE ").node(s.Node.Text)
}

// node writes the name of a cluster node: as a host name, which reads back in
// lower case, where it has that form.
func (w *writer) node(n string) *writer {
	if n != strings.ToLower(n) || len(n) > parse.HostBytesMax {
		return w.string(n)
	}
	return w.external(n)
}

// selection writes what RELOCATE and DESCRIBE RELOCATION have in common.
func (w *writer) selection(r *ast.Relocation) *writer {
	if r.Nodes != nil {
		w.runtimeNodes(r.Nodes)
	} else {
		w.put("FROM ").runtimeNodes(r.From).put(" TO ").runtimeNodes(r.To)
	}
	w.put(" ONTO NODE ").node(r.Onto.Text).put(" ", r.Preferences.String(), " PREFERENCES")
	for _, f := range r.For {
		w.put(" FOR ").runtimeNodes(f.Nodes).put(" ", f.Preferences.String(), " PREFERENCES")
	}
	return w
}

func (w *writer) runtimeNodes(list []ast.RuntimeNode) *writer {
	for i, n := range list {
		if i > 0 {
			w.put(", ")
		}
		w.put(n.Kind.String(), " ").name(n.Name.Text)
	}
	return w
}
