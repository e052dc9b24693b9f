package render

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (w *writer) placement(p *model.Placement) {
	w.put("PLACEMENT ").name(p.Name).put(" FROM ").names(p.From, w.name)
	w.put(" TO ").names(p.To, w.name)
	w.put(" ", p.Policy.String())
	if p.Rank > 0 {
		w.put(" RANK ").uint(p.Rank)
	}
}

func (w *writer) alterPlacement(s *ast.AlterPlacement) {
	w.put("ALTER PLACEMENT ").name(s.Name.Text)
	for i, c := range s.Changes {
		w.put([]string{" ", ", "}[min(i, 1)])
		switch c.Op {
		case ast.PlacementSetPolicy:
			w.put("SET POLICY ", c.Policy.String())
		case ast.PlacementSetRank:
			w.put("SET RANK ").uint(c.Rank.Value)
		case ast.PlacementDropRank:
			w.put("DROP RANK")
		case ast.PlacementSetMembers:
			w.put("SET FROM ").names(c.From, w.alterName)
			w.put(" TO ").names(c.To, w.alterName)
		case ast.PlacementRename:
			w.put("RENAME TO ").name(c.Name.Text)
		}
	}
}

// alterName writes a name of a list inside ALTER, where a comma before an
// operation word would end the list.
func (w *writer) alterName(n string) *writer {
	if slices.Contains(operationWords, n) {
		return w.put("`", n, "`")
	}
	return w.name(n)
}
