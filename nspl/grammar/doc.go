// Package grammar holds the language as EBNF, for people: the appendix of the
// manual, the help of the prompt and of editors.
//
// The parser does not read it. That both say the same is tested: sentences drawn
// from the grammar parse, and every phrase that the parser tries stands in it.
package grammar
