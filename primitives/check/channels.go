package check

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checkChannels reports everything that touches a channel.
func checkChannels(f *found) {
	const instead = "use primitives.Queue, Event, Notice or Select"
	each(f, func(t *ast.ChanType) { f.at(t.Pos(), "channel type; %s", instead) })
	each(f, func(s *ast.SendStmt) { f.at(s.Pos(), "channel send; %s", instead) })
	each(f, func(s *ast.SelectStmt) { f.at(s.Pos(), "select statement; %s", instead) })
	each(f, func(e *ast.UnaryExpr) {
		if e.Op == token.ARROW {
			f.at(e.Pos(), "channel receive; %s", instead)
		}
	})
	each(f, func(s *ast.RangeStmt) {
		if isChannel(f.TypesInfo.TypeOf(s.X)) {
			f.at(s.Pos(), "range over a channel; %s", instead)
		}
	})
	each(f, func(c *ast.CallExpr) {
		if f.isBuiltin(c, "close") {
			f.at(c.Pos(), "channel close; %s", instead)
		}
	})
}

func isChannel(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// isBuiltin reports whether a call is of the language's own function.
func (f *found) isBuiltin(c *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = f.TypesInfo.Uses[id].(*types.Builtin)
	return ok
}
