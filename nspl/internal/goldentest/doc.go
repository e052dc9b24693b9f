// Package goldentest runs test files that read like the product: a command, its
// input, a line of dashes, the exact output.
//
//	parse
//	CREATE DOMAIN d;
//	----
//	CREATE UNPACED DOMAIN d;
//
// An empty line ends the output. Lines that begin with '#' before a command are
// comments. With -update the outputs are written instead of compared. For tests
// only.
package goldentest
