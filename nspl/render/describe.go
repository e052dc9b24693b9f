package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

func (w *writer) describe(s *ast.Describe) {
	w.put("DESCRIBE ", s.Kind.String())
	if s.Kind != vocab.EntityDomain {
		w.put(" ").name(s.Name.Text)
	}
	if len(s.Pick) > 0 {
		w.put(" WHERE (")
		for i, v := range s.Pick {
			w.put([]string{"", ", "}[min(i, 1)]).keyValue(v)
		}
		w.put(")")
	}
	if s.Version != nil {
		w.put(" VERSION ").uint(s.Version.Value)
	}
	w.format(s.Format)
}

func (w *writer) describeTransaction(s *ast.DescribeTransaction) {
	w.put("DESCRIBE TRANSACTION")
	if s.ID != nil {
		w.put(" ").string(s.ID.Text)
	}
	if s.Operation != nil {
		w.put(" OPERATION ").uint(s.Operation.Value)
	}
	w.format(s.Format)
}

func (w *writer) keyValue(v ast.KeyValue) {
	w.name(v.Name.Text).put(" = ").literal(v.Value)
}

func (w *writer) literal(l ast.Literal) *writer {
	if l.Kind == ast.LiteralString {
		return w.string(l.Text)
	}
	return w.put(l.Text)
}
