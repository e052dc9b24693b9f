// Package render writes the canonical text of entities: the form in which they
// are replicated, shown by SHOW CREATE and kept in backups.
//
//	R1  Parsing the text of a model and lowering it gives an equal model.
//	R2  Rendering that model again gives the same bytes.
//	R3  Parsing the text of [Statement] gives an equal tree.
//
// Both hold for every model that nspl/model accepted, and are properties of the
// tests. Defaults are written out; names stand in backticks only where the bare
// word would not read back.
//
// The package is pure and imports nspl/model, nspl/ast, nspl/parse (for the
// reserved words) and nspl/vocab.
package render
