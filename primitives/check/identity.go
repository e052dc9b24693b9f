package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkIdentity reports what differs between two runs of the same program: the
// addresses of values and the state of the process.
func checkIdentity(f *found) {
	f.forbid([]ban{
		{pkg: "runtime", names: "NumGoroutine NumCPU GOMAXPROCS NumCgoCall Caller Callers CallersFrames Stack ReadMemStats", instead: "explicit ids, or a value of the configuration"},
		{pkg: "reflect", names: "Value.Pointer Value.UnsafeAddr Value.UnsafePointer", instead: "explicit ids"},
		{pkg: "unique", names: "*", instead: "explicit ids"},
		{pkg: "weak", names: "*", instead: "an explicit Close"},
	})
	each(f, func(l *ast.BasicLit) {
		if l.Kind == token.STRING && strings.Contains(l.Value, "%p") {
			f.at(l.Pos(), "%%p prints an address; use explicit ids")
		}
	})
	each(f, func(c *ast.CallExpr) {
		to, ok := f.TypesInfo.Types[c.Fun]
		if !ok || !to.IsType() || len(c.Args) != 1 {
			return
		}
		if isBasic(to.Type, types.Uintptr) && isBasic(f.TypesInfo.TypeOf(c.Args[0]), types.UnsafePointer) {
			f.at(c.Pos(), "an address as a number; use explicit ids")
		}
	})
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == kind
}
