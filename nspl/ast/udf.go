package ast

import "plexus/nspl/vocab"

// CreateUDF is CREATE UDF. The last parts belong to one of the languages.
type CreateUDF struct {
	Create
	Language vocab.UDFLanguage
	Params   []UDFParam
	Returns  Type
	Optional bool // OPTIONAL behind RETURNS
	Volatile bool

	Code Text // NSPL_1
	Body *UDFBody

	Binding   *Binding // WASM_1, as all that follows
	File      Text
	Export    Text
	MaxFuel   Uint
	MaxMemory Size
	TestText  *Text
	Tests     []UDFTest
}

// Declares returns the kind of the entity.
func (*CreateUDF) Declares() vocab.EntityKind { return vocab.EntityUDF }

// UDFParam is one argument of ARGS.
type UDFParam struct {
	Name     Name
	Type     Type
	Optional bool
}

// UDFBody is the code of an NSPL_1 function.
type UDFBody struct {
	Steps  []UDFStep
	Return Expr
	Tests  []UDFTest
}

// UDFStep is LET Name = Value, or with Reject REJECT WHEN Value (MESSAGE …)?.
type UDFStep struct {
	Reject  bool
	Name    Name
	Value   Expr
	Message *Text
	Span    vocab.Span
}

// UDFTest is TEST with its cases.
type UDFTest struct {
	Name  Text
	Cases []UDFCase
	Span  vocab.Span
}

// UDFCase is CASE (Args) RETURNS value, or FAILS kind where Returns is nil.
type UDFCase struct {
	Args    []Expr
	Returns Expr
	Fails   *Text
	Span    vocab.Span
}
