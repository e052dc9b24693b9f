package render

import "plexus/nspl/ast"

// Statement returns the canonical text of a statement that changes or moves what
// was declared: ALTER DOMAIN, ALTER PLACEMENT, the node statements, RELOCATE and
// DESCRIBE RELOCATION. It returns "" for others. Declarations are rendered from
// their models, see [Entity].
func Statement(s ast.Statement) string {
	w := &writer{}
	switch s := s.(type) {
	case *ast.AlterDomain:
		w.put("ALTER DOMAIN SET PLACEMENT ", s.Placement.String())
	case *ast.AlterPlacement:
		w.alterPlacement(s)
	case *ast.AlterRelay:
		w.alterRelay(s)
	case *ast.AlterNode:
		w.alterNode(s)
	case *ast.NodeControl:
		w.nodeControl(s)
	case *ast.Relocate:
		w.put("RELOCATE ").selection(&s.Relocation)
	case *ast.DescribeRelocation:
		w.put("DESCRIBE RELOCATION ").selection(&s.Relocation)
		if s.Format == ast.FormatJSON {
			w.put(" FORMAT JSON")
		}
	default:
		return ""
	}
	w.put(";")
	return string(w.text)
}
