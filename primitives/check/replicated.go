package check

import (
	"go/ast"
	"go/types"
)

// replicatedPackages apply commands: every node must come to the same state.
const replicatedPackages = "plexus/engine/catalog/..."

// checkReplicated reports what two nodes could see differently.
func checkReplicated(f *found) {
	if !within(f.Pkg.Path(), replicatedPackages) {
		return
	}
	f.forbid([]ban{
		{pkg: "plexus/primitives", names: "*", but: "Instant Never UUID SortedKeys", instead: "fields of the command"},
		{pkg: "log/slog", names: "*", instead: "an effect that the caller logs"},
		{pkg: "math", names: "*", but: "MaxInt* MinInt* MaxUint*", instead: "integers"},
	})
	each(f, func(e *ast.BinaryExpr) {
		if isFloat(f.TypesInfo.TypeOf(e.X)) || isFloat(f.TypesInfo.TypeOf(e.Y)) {
			f.at(e.Pos(), "floating point in replicated state; use integers")
		}
	})
}

func isFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}
