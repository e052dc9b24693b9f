package check

import (
	"go/ast"
	"go/types"
	"slices"
)

// encodingPackages write bytes that are replicated, digested or traced.
var encodingPackages = []string{
	"plexus/engine/catalog/...", "plexus/engine/control/...", "plexus/engine/decide/...", "plexus/engine/state/...",
	"plexus/engine/interconnect/...", "plexus/engine/session/...", "plexus/sim/...",
}

// checkEncoding reports encoders that may write equal values differently.
func checkEncoding(f *found) {
	if !slices.ContainsFunc(encodingPackages, func(p string) bool { return within(f.Pkg.Path(), p) }) {
		return
	}
	const deterministic = "proto.MarshalOptions{Deterministic: true}"
	f.forbid([]ban{
		{pkg: "google.golang.org/protobuf/proto", names: "Marshal", instead: deterministic},
		{pkg: "google.golang.org/protobuf/encoding/protojson", names: "*", instead: deterministic},
		{pkg: "google.golang.org/protobuf/encoding/prototext", names: "*", instead: deterministic},
		{pkg: "encoding/gob", names: "*", instead: deterministic},
	})
	each(f, func(l *ast.CompositeLit) {
		t, ok := f.TypesInfo.TypeOf(l).(*types.Named)
		if !ok || t.Obj().Pkg() == nil || t.Obj().Pkg().Path() != "google.golang.org/protobuf/proto" || t.Obj().Name() != "MarshalOptions" {
			return
		}
		for _, e := range l.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && isNamed(kv.Key, "Deterministic") && isNamed(kv.Value, "true") {
				return
			}
		}
		f.at(l.Pos(), "marshalling without Deterministic; use %s", deterministic)
	})
	each(f, func(c *ast.CallExpr) {
		switch f.callee(c) {
		case "encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.Encoder.Encode":
			if t := f.TypesInfo.TypeOf(c.Args[0]); t != nil {
				if _, ok := t.Underlying().(*types.Map); ok {
					f.at(c.Pos(), "a map as JSON; use a struct")
				}
			}
		}
	})
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
