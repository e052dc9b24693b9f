// Package format writes scripts in their canonical form, offline: nothing here
// knows a cluster.
//
//	F1  The formatted text holds the same statements, and the same comments in the
//	    same places between them.
//	F2  Formatting what was formatted changes nothing.
//	F3  A text that does not parse is refused with the parser's diagnostic.
//
// A statement with a comment inside, and one without a canonical form, keep their
// text: passwords are never rewritten, and what a person explained is not torn
// apart. So does a declaration with a fault: a formatter does not judge.
package format
