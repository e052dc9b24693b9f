package model

import "plexus/nspl/ast"

// States returns the relays whose materialized state an entity reads, in written
// order.
func States(e Entity) (names []ast.Name) {
	deps := func(list []ast.StateDep) {
		for _, d := range list {
			names = append(names, d.Relay)
		}
	}
	switch e := e.(type) {
	case *Junction:
		deps(e.States)
	}
	return names
}
