package render

import "plexus/nspl/model"

func (w *writer) schema(s *model.Schema) {
	w.put("SCHEMA ").name(s.Name).put(" (")
	for i, f := range s.Fields {
		if i > 0 {
			w.put(",")
		}
		w.clause(2).name(f.Name).put(" ", f.Type.String())
		if f.Optional {
			w.put(" OPTIONAL")
		}
		if f.Sensitive {
			w.put(" SENSITIVE")
		}
	}
	w.clause(0, ")")
}
