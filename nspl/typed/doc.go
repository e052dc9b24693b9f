// Package typed is the checked form of expressions: every node carries its
// exact type, optionality, sensitivity and volatility, every name is resolved to
// a column or a builtin, and a construction is an ordered list of steps.
//
// [Check] turns parsed expressions into this form with the scope rules of the
// context they stand in; engine/expr compiles the form into columnar programs.
// Both are pure. The package imports nspl/vocab and nspl/ast.
package typed
