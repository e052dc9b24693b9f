// Package model is what a declaration means: one struct per entity kind, with
// every default filled in and every rule checked that one statement can be
// checked for by itself.
//
//	M1  An entity that [Lower] returned without diagnostics can be rendered.
//	M2  parse(render(m)) lowers to a model equal to m, see nspl/render.
//	M3  [Entity.Refs] lists everything the entity refers to, in written order; only
//	    the members of a [Placement], which have no kind of their own, stand apart.
//
// What needs other entities is checked by the catalog against the whole candidate
// graph; what needs types by nspl/typed. Models keep the parsed expressions and
// clauses with their spans, so that those later checks can point into the text;
// [Equal] ignores them.
//
// The package is pure and imports nspl/ast and nspl/vocab only.
package model
