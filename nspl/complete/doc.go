// Package complete proposes what can be written next in a text of NSPL.
//
// It holds no grammar: the parser reads the text up to the cursor and tells what
// it expects there (nspl/parse.Expected). This package turns expectations into
// suggestions: keywords as they are, references into the names that a [Catalog]
// knows and that fit what was written before, fields into those of the schemas
// that the clause reads.
//
//	S1  Every edit, applied, gives a text that reads at least as far as before.
//	S2  Every prefix of a canonical statement that ends between tokens offers the
//	    next token, or the kind of it.
//	S3  Appending suggestions, with names and literals drawn by kind, reaches every
//	    statement of the language.
//	S4  Of passwords and CONFIG values only the form is shown, never a value.
package complete
