package check

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// checkMaps reports iterations over maps, except where the sequence is sorted on
// the spot.
func checkMaps(f *found) {
	const instead = "use primitives.SortedKeys, or //plexus:orderfree when the order cannot be seen"
	each(f, func(s *ast.RangeStmt) {
		t := f.TypesInfo.TypeOf(s.X)
		if t == nil {
			return
		}
		if _, ok := t.Underlying().(*types.Map); ok {
			f.at(s.Pos(), "range over a map; %s", instead)
		}
	})
	sorted := map[*ast.CallExpr]bool{}
	each(f, func(c *ast.CallExpr) {
		name := f.callee(c)
		switch name {
		case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc":
			if inner, ok := ast.Unparen(c.Args[0]).(*ast.CallExpr); ok {
				sorted[inner] = true
			}
		case "maps.Keys", "maps.Values", "maps.All":
			if !sorted[c] { // the outer call comes first
				f.at(c.Pos(), "%s unsorted; %s", name, instead)
			}
		case "reflect.Value.MapRange", "reflect.Value.MapKeys", "sync.Map.Range":
			f.at(c.Pos(), "%s; %s", name, instead)
		}
	})
}

// callee returns the package path and name of a called function or method, such
// as "slices.Sorted" or "reflect.Value.MapKeys"; nothing for other calls.
func (f *found) callee(c *ast.CallExpr) string {
	obj := typeutil.Callee(f.TypesInfo, c)
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	name := qualified(obj)
	if name == "" {
		return ""
	}
	return obj.Pkg().Path() + "." + name
}
