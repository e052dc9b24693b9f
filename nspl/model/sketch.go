package model

import (
	"strings"

	"plexus/nspl/ast"
)

const (
	// sketchBytesFixed is what the sketches of a route take beside their panes.
	sketchBytesFixed = 1024
	// sketchPanesSpare are the panes beyond those of the width: one at either end
	// and the merged one.
	sketchPanesSpare = 3
)

// sketchBytes is what one pane of a sketch takes. A call whose size is no literal
// within bounds is a fault of the expression, found elsewhere.
func sketchBytes(call *ast.Call) uint64 {
	size := func(at int, low, high int64) uint64 {
		if at >= len(call.Args) {
			return 0
		}
		n, ok := call.Args[at].(*ast.IntLit)
		if !ok || n.Value < low || n.Value > high {
			return 0
		}
		return uint64(n.Value)
	}
	switch call.Name.Text {
	case "approx_count_distinct":
		if p := size(1, 4, 16); p > 0 {
			return 1<<p + 128
		}
	case "approx_quantile":
		return 32*size(2, 32, 4096) + 128
	case "approx_top_k":
		return 160*size(2, 1, 4096) + 128
	}
	return 128
}

func sketch(call *ast.Call) bool {
	switch call.Name.Text {
	case "approx_count_distinct", "approx_quantile", "approx_top_k":
		return !call.UDF
	}
	return false
}

// sketches returns the calls of a route that keep sketches; equal ones share one.
func sketches(r ast.Route) (calls []*ast.Call) {
	for _, a := range r.Construction.Set {
		ast.Walk(a.Value, func(e ast.Expr) {
			call, ok := e.(*ast.Call)
			if !ok || !sketch(call) {
				return
			}
			for _, other := range calls {
				if ast.Equal(other, call) {
					return
				}
			}
			calls = append(calls, call)
		})
	}
	return calls
}

func aggregateName(call *ast.Call) string { return strings.ToUpper(call.Name.Text) }
