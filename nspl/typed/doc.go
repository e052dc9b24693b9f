// Package typed is the checked form of expressions: every node carries its
// exact type, optionality, sensitivity and volatility, every name is resolved to
// a column or a builtin, and a construction is an ordered list of steps.
//
// The Check functions in env.go turn parsed expressions into this form with the
// scope rules of the context they stand in; engine/expr compiles the form into
// columnar programs. Both are pure.
//
//	T1  No conversion is ever inserted: a checked node's operands have exactly the
//	    types its operation takes.
//	T2  A required result is never null for rows that did not fail.
//	T3  Sensitivity is lost through leak_sensitive and LEAK SENSITIVE only.
//	T4  A name that stands in the table of builtins.go has a kernel.
//
// The package imports nspl/vocab and nspl/ast.
package typed
