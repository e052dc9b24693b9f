package render

import "plexus/nspl/ast"

func (w *writer) rebind(s *ast.RebindResource) {
	w.put("REBIND RESOURCE ").name(s.Name.Text).put(" TO ").version(s.To)
	for i, u := range s.For {
		w.put([]string{" FOR ", ", "}[min(i, 1)], u.Kind.String(), " ").name(u.Name.Text)
	}
}
