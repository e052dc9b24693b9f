package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) schema(s *model.Schema) {
	w.put("SCHEMA ").name(s.Name).put(" (")
	for i, f := range s.Fields {
		if i > 0 {
			w.put(",")
		}
		w.clause(2).name(f.Name).columnType(f.Type, f.Optional, f.Sensitive)
	}
	w.clause(0, ")")
}

// columnType writes what follows the name of a field.
func (w *writer) columnType(t vocab.Type, optional, sensitive bool) {
	w.put(" ", t.String()).option(optional, "OPTIONAL").option(sensitive, "SENSITIVE")
}

func (w *writer) alterSchema(s *ast.AlterSchema) {
	w.put(ast.Words(s), " ").name(s.Name.Text)
	for i, c := range s.Changes {
		w.put([]string{" ", ", "}[min(i, 1)]).fieldChange(c.Op, c.Field.Name, c.To)
		switch c.Op {
		case ast.FieldAdd:
			w.columnType(c.Field.Type.Type, c.Field.Optional, c.Field.Sensitive)
		case ast.FieldSetType:
			w.put(" ", c.Field.Type.String())
		}
	}
}

// fieldChange writes an operation on a field up to its type.
func (w *writer) fieldChange(op ast.FieldOp, field, to ast.Name) {
	switch op {
	case ast.FieldAdd:
		w.put("ADD FIELD ").alterName(field.Text)
	case ast.FieldDrop:
		w.put("DROP FIELD ").alterName(field.Text)
	case ast.FieldRename:
		w.put("RENAME FIELD ").alterName(field.Text).put(" TO ").alterName(to.Text)
	default:
		words := [...]string{"SET TYPE", "SET OPTIONAL", "DROP OPTIONAL", "SET SENSITIVE", "DROP SENSITIVE"}[op-ast.FieldSetType]
		w.put("ALTER FIELD ").alterName(field.Text).put(" ", words)
	}
}
