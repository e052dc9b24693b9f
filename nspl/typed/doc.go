// Package typed is the checked form of expressions: every node carries its
// exact type, optionality, sensitivity and volatility, every name is resolved to
// a column or a builtin, and a construction is an ordered list of steps.
//
// The Check functions in env.go and construct.go turn parsed expressions into this form with the
// scope rules of the context they stand in; engine/expr compiles the form into
// columnar programs. Both are pure.
//
//	T1  No conversion is ever inserted: a checked node's operands have exactly the
//	    types its operation takes.
//	T2  A required result is never null for rows that did not fail.
//	T3  Sensitivity is lost through leak_sensitive and LEAK SENSITIVE only.
//	T4  An expression of which [Expr.Missing] names nothing has all of its kernels
//	    in engine/expr; everything else is checked and waits for them.
//
// The package imports nspl/vocab, nspl/ast and nspl/datetime.
package typed
