// Package parse turns text into the trees of nspl/ast.
//
// One hand-written recursive descent parser runs over one token stream;
// expressions are parsed in place and end where they cannot continue. Words are
// keywords only where the grammar asks for one.
//
//	P1  Every span lies within the text.
//	P2  Whatever the text, the parser ends: recursion is bounded by [nestingMax],
//	    chains of operators by [chainMax], the text by [TextBytesMax].
//	P3  The message of a parse error lists what the grammar tried at the furthest
//	    token it reached, in the order it was tried.
//
// Parse functions do not return errors. A fault leaves the grammar by a panic
// that carries the diagnostic and that only the entry points of this package
// catch, so a function of the grammar reads like its rule.
//
// The table in statement.go is the language at a glance. The package imports
// nspl/ast and nspl/vocab only.
package parse
