package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

func appendBranch(refs []Ref, b ast.BranchUse) []Ref {
	if b.By != nil {
		refs = append(refs, ref(vocab.EntityBranch, *b.By))
	}
	return refs
}

func appendInputs(refs []Ref, in ast.Inputs) []Ref {
	for _, i := range in.From {
		refs = append(refs, ref(vocab.EntityRelay, i.Relay))
	}
	return refs
}

func appendStates(refs []Ref, deps []ast.StateDep) []Ref {
	for _, d := range deps {
		refs = append(refs, ref(vocab.EntityRelay, d.Relay))
	}
	return refs
}

func appendError(refs []Ref, e ast.MessageError) []Ref {
	if e.Action == ast.ErrorSendTo {
		refs = append(refs, ref(vocab.EntityRelay, e.To))
	}
	return refs
}

func appendRoutes(refs []Ref, routes []ast.Route) []Ref {
	for _, r := range routes {
		refs = append(refs, ref(vocab.EntityRelay, r.To))
		if r.Branch != nil {
			refs = appendBranch(refs, r.Branch.BranchUse)
		}
		refs = appendError(refs, r.OnError)
	}
	return refs
}

// References lists what an entity refers to: what it names, and what its
// expressions call.
func References(e Entity) []Ref {
	refs := e.Refs()
	for _, call := range ast.Calls(e) {
		if call.UDF {
			refs = append(refs, ref(vocab.EntityUDF, call.Name))
		} else if m, ok := ast.LookedUp(call); ok {
			refs = append(refs, ref(vocab.EntityHashMap, m))
		}
	}
	return refs
}
