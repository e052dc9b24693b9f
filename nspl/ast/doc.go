// Package ast is the tree of a statement as it was written: one struct per
// statement, names lower-cased, values read, and a byte span on everything a
// diagnostic may have to point at.
//
// A tree says what stands in the text, not whether it may stand there: defaults,
// combinations and ranges are the business of nspl/model, types and scopes that
// of nspl/typed.
//
// Expressions are shared by all later forms: a model keeps the trees that were
// parsed. Equality of trees ignores spans, see [Equal].
//
// The package also owns [Diagnostic], the one error of the language. It imports
// nspl/vocab and the standard library only.
package ast
