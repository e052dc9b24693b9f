package render

import (
	"plexus/nspl/ast"
)

// Statement returns the canonical text of a statement that declares nothing.
// Declarations are rendered from their models, see [Entity]. It returns "" for
// those and for statements that hold a password, which nothing may write back.
func Statement(s ast.Statement) string {
	w := &writer{}
	if !w.statement(s) {
		return ""
	}
	w.put(";")
	return string(w.text)
}

// statement writes a statement and reports whether it has a canonical text.
func (w *writer) statement(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.AlterDomain:
		w.put("ALTER DOMAIN SET PLACEMENT ", s.Placement.String())
	case *ast.AlterSchema:
		w.alterSchema(s)
	case *ast.AlterWireSchema:
		w.alterWireSchema(s)
	case *ast.AlterPlacement:
		w.alterPlacement(s)
	case *ast.AlterRelay:
		w.alterRelay(s)
	case *ast.AlterNode:
		w.alterNode(s)
	case *ast.RebindResource:
		w.rebind(s)
	case *ast.ResetWASM:
		w.resetWASM(s)
	case *ast.Drop:
		w.put(ast.Words(s), " ").name(s.Name.Text)
	case *ast.Start:
		w.start(s)
	case *ast.NodeControl:
		w.nodeControl(s)
	case *ast.Relocate:
		w.put("RELOCATE ").selection(&s.Relocation)
	case *ast.Stop, *ast.Begin, *ast.Commit, *ast.Revert, *ast.ListDomains, *ast.Clock:
		w.put(ast.Words(s))
	default:
		return w.reading(s)
	}
	return true
}

// reading writes a statement that changes no definition.
func (w *writer) reading(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.ShowCreate:
		w.put("SHOW CREATE ", s.Kind.String(), " ").name(s.Name.Text).format(s.Format)
	case *ast.Show:
		w.put(ast.Words(s)).format(s.Format)
	case *ast.ShowState:
		w.put("SHOW RELAY ").name(s.Relay.Text).put(" MATERIALIZED STATE").format(s.Format)
	case *ast.Describe:
		w.describe(s)
	case *ast.DescribeTransaction:
		w.describeTransaction(s)
	case *ast.DescribeRelocation:
		w.put("DESCRIBE RELOCATION ").selection(&s.Relocation).format(s.Format)
	case *ast.DescribeBackup:
		w.put("DESCRIBE BACKUP ").string(s.Path.Text).format(s.Format)
	case *ast.Lookup:
		w.put("LOOKUP ").name(s.Map.Text).put(" KEY ").string(s.Key.Text)
	case *ast.Use:
		w.put("USE ").name(s.Domain.Text)
	case *ast.CreateSubscription:
		w.subscription(s)
	case *ast.DeleteSubscription:
		w.put("DELETE SUBSCRIPTION ").name(s.Name.Text)
	case *ast.UploadResource:
		w.put("UPLOAD RESOURCE ").name(s.Name.Text).put(" VERSION ").string(s.Path.Text)
	case *ast.Backup:
		w.backup(s)
	case *ast.Restore:
		w.restore(s)
	default:
		return false
	}
	return true
}

// format writes FORMAT JSON; TEXT is the default and not written.
func (w *writer) format(f ast.Format) {
	if f == ast.FormatJSON {
		w.put(" FORMAT JSON")
	}
}
