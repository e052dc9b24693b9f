package render

import "plexus/nspl/model"

func (w *writer) wireSchema(s *model.WireSchema) {
	mode := "LOOSE"
	if s.Strict {
		mode = "STRICT"
	}
	w.put("WIRE ", s.Format.String(), " SCHEMA ").name(s.Name).put(" MODE ", mode, " (")
	for i, f := range s.Fields {
		if i > 0 {
			w.put(",")
		}
		w.clause(2).name(f.Name).put(" ", f.Type.String())
		if f.Optional {
			w.put(" OPTIONAL")
		}
	}
	w.clause(0, ")")
}
