package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (w *writer) wireSchema(s *model.WireSchema) {
	w.put(s.Kind().String(), " ").name(s.Name).put(" ", wireMode(s.Strict), " (")
	for i, f := range s.Fields {
		if i > 0 {
			w.put(",")
		}
		w.clause(2).name(f.Name).put(" ", f.Type.String()).option(f.Optional, "OPTIONAL")
	}
	w.clause(0, ")")
}

func wireMode(strict bool) string {
	if strict {
		return "MODE STRICT"
	}
	return "MODE LOOSE"
}

func (w *writer) alterWireSchema(s *ast.AlterWireSchema) {
	w.put(ast.Words(s), " ").name(s.Name.Text)
	for i, c := range s.Changes {
		w.put([]string{" ", ", "}[min(i, 1)])
		if c.Op == ast.WireSetMode {
			w.put(wireMode(c.Strict))
			continue
		}
		w.fieldChange(c.Op, c.Field.Name, c.To)
		switch c.Op {
		case ast.FieldAdd:
			w.put(" ", c.Field.Type.String()).option(c.Field.Optional, "OPTIONAL")
		case ast.FieldSetType:
			w.put(" ", c.Field.Type.String())
		}
	}
}
