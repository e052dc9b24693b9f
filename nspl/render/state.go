package render

import "plexus/nspl/ast"

func (w *writer) states(deps []ast.StateDep) {
	for _, d := range deps {
		w.clause(2, "USING MATERIALIZED STATE ").name(d.Relay.Text).put(" ").statePolicy(d, 2)
	}
}

// statePolicy writes what follows the name of a state. Indent is that of the
// clause.
func (w *writer) statePolicy(d ast.StateDep, indent int) {
	switch d.Policy {
	case ast.StateWait:
		w.put("REQUIRED WAIT")
	case ast.StateSkip:
		w.put("REQUIRED SKIP")
	case ast.StateDefault:
		w.put("DEFAULT {")
		for i, a := range d.Default {
			if i > 0 {
				w.put(",")
			}
			w.clause(indent + 2).assign(a)
		}
		w.clause(indent, "}")
	}
}
