package typed

import (
	"strings"

	"plexus/nspl/vocab"
)

// nullRule says when the result of a function may be null.
type nullRule uint8

const (
	nullIfAny  nullRule = iota // if any argument may be
	nullIfAll                  // if every argument may be
	nullNever                  // never
	nullAlways                 // whatever the arguments are
)

// param says what an argument may be.
type param uint8

const (
	anyType      param = iota // any type, lists included
	scalar                    // any scalar
	number                    // any numeric type
	ordered                   // numeric, STRING or DATETIME
	basic                     // numeric, BOOL, STRING or DATETIME
	integer                   // any integer type
	float                     // F32 or F64
	boolean                   // BOOL
	text                      // STRING
	octets                    // BYTES
	moment                    // DATETIME
	sameAs1                   // exactly the type of the first argument
	list                      // any list
	numberList                // a list of numbers
	basicList                 // a list of basic
	scalarList                // a list of scalars
	textList                  // a list of STRING
	likeList1                 // a list with the elements of the first argument
	sameList1                 // exactly the type of the first argument, which is a list
	element1                  // the element of the first argument
	textLiteral               // a STRING literal
	wholeLiteral              // a whole number literal
	realLiteral               // a number literal
)

var paramWords = [...]string{
	anyType: "value", scalar: "scalar", number: "number", ordered: "number, STRING or DATETIME",
	basic: "number, BOOL, STRING or DATETIME", integer: "integer", float: "float", boolean: "BOOL", text: "STRING", octets: "BYTES",
	moment: "DATETIME", sameAs1: "same type", list: "list", numberList: "list of numbers",
	basicList: "list of numbers, BOOL, STRING or DATETIME", scalarList: "list of scalars", textList: "list of STRING",
	likeList1: "list of the same elements", sameList1: "same list", element1: "element", textLiteral: "STRING literal",
	wholeLiteral: "whole number literal", realLiteral: "number literal",
}

// accepts reports whether an argument has the type that a parameter takes.
func (p param) accepts(t, first vocab.Type) bool {
	k := t.Kind
	isList := t.Elem != nil
	switch p {
	case scalar:
		return k.Scalar()
	case number, realLiteral:
		return k.Numeric()
	case ordered:
		return isOrdered(k)
	case basic:
		return isBasic(k)
	case integer:
		return k.Integer()
	case wholeLiteral:
		return k == vocab.I64
	case float:
		return k.Float()
	case boolean:
		return k == vocab.Bool
	case text, textLiteral:
		return k == vocab.String
	case octets:
		return k == vocab.Bytes
	case moment:
		return k == vocab.Datetime
	case sameAs1, sameList1:
		return t.Equal(first)
	case list:
		return isList
	case numberList:
		return isList && t.Elem.Kind.Numeric()
	case basicList:
		return isList && isBasic(t.Elem.Kind)
	case scalarList:
		return isList && t.Elem.Kind.Scalar()
	case textList:
		return isList && t.Elem.Kind == vocab.String
	case likeList1:
		return isList && t.Elem.Equal(*first.Elem)
	case element1:
		return t.Equal(*first.Elem)
	}
	return true
}

// isOrdered reports whether < compares values of the kind.
func isOrdered(k vocab.Kind) bool { return k.Numeric() || k == vocab.String || k == vocab.Datetime }

// isBasic reports whether the kind is a scalar other than BYTES.
func isBasic(k vocab.Kind) bool { return k.Scalar() && k != vocab.Bytes }

// result says what a function returns.
type result uint8

const (
	ofArg1 result = iota // the type of the first argument
	booleans
	int64s
	uint64s
	float64s
	texts
	bytes
	moments
	ofElement1  // the element of the first argument
	vecOfTexts  // VEC<STRING>
	vecElement1 // VEC of the element of the first argument
	vecOfArg1   // VEC of the first argument
	arrayOfArgs // ARRAY of the arguments
	joinedLists // the lists one after the other
)

var resultKinds = [...]vocab.Kind{booleans: vocab.Bool, int64s: vocab.I64, uint64s: vocab.U64, float64s: vocab.F64, texts: vocab.String,
	bytes: vocab.Bytes, moments: vocab.Datetime}

// of returns the type of a call with these arguments.
func (r result) of(args []*Expr) vocab.Type {
	switch r {
	case ofArg1:
		return args[0].Type
	case ofElement1:
		return *args[0].Type.Elem
	case vecOfTexts:
		return vocab.VecOf(vocab.Scalar(vocab.String))
	case vecElement1:
		return vocab.VecOf(*args[0].Type.Elem)
	case vecOfArg1:
		return vocab.VecOf(args[0].Type)
	case arrayOfArgs:
		return vocab.ArrayOf(args[0].Type, uint32(len(args)))
	case joinedLists:
		return joined(args)
	}
	return vocab.Scalar(resultKinds[r])
}

// joined is an ARRAY if all lists are, and their lengths fit one.
func joined(args []*Expr) vocab.Type {
	var size uint64
	for _, a := range args {
		size += uint64(a.Type.Size)
		if a.Type.Kind == vocab.Vec || size > 1<<31-1 {
			return vocab.VecOf(*args[0].Type.Elem)
		}
	}
	return vocab.ArrayOf(*args[0].Type.Elem, uint32(size))
}

// fallible says when a call can fail a row. What builds text can: a batch holds
// only so many bytes in one column. What returns a part of its argument cannot.
type fallible uint8

const (
	never fallible = iota
	always
	ifFloat        // for float arguments only
	ifFloatOrSigns // for float and signed arguments
)

// function is one builtin, or one form of it where lists have another one.
type function struct {
	name string
	// params are the parameters; the last of them may be repeated.
	params   []param
	optional int  // how many of params, from the end, may be left out
	repeats  bool // the last parameter may be repeated
	result   result
	nulls    nullRule
	fails    fallible
	volatile Volatility
	// rule checks what the types do not say, literals above all.
	rule func(c *checker, args []*Expr) bool
	// window says that it is an aggregate.
	window bool
	// later says that engine/expr has no kernel for it yet.
	later bool
}

// Functions lists the names of the builtin functions in the order of the manual.
func Functions() []string { return names(builtins) }

// Runs reports whether engine/expr has a kernel for a form of the function.
func Runs(name string) bool {
	for _, f := range forms(builtins, name) {
		if !f.later {
			return true
		}
	}
	return false
}

// Aggregates lists the names of the window aggregates in the order of the manual.
func Aggregates() []string { return names(aggregates) }

func names(table []function) []string {
	var list []string
	for i := range table {
		if i == 0 || table[i].name != table[i-1].name {
			list = append(list, table[i].name)
		}
	}
	return list
}

// forms are the functions of a table that have a name; they stand side by side.
func forms(table []function, name string) []function {
	for i := range table {
		if table[i].name != name {
			continue
		}
		n := i + 1
		for n < len(table) && table[n].name == name {
			n++
		}
		return table[i:n]
	}
	return nil
}

// takes reports whether the function can be called with n arguments.
func (f *function) takes(n int) bool {
	return n >= len(f.params)-f.optional && (n <= len(f.params) || f.repeats)
}

// param returns the parameter of the argument at a position.
func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

// Signature returns how a function is called, or "" for an unknown name.
func Signature(name string) string { return signature(forms(builtins, name)) }

// AggregateSignature returns how an aggregate is called, or "" for an unknown name.
func AggregateSignature(name string) string { return signature(forms(aggregates, name)) }

func signature(forms []function) string {
	var b strings.Builder
	for i := range forms {
		if i > 0 {
			b.WriteString(" or ")
		}
		forms[i].sign(&b)
	}
	return b.String()
}

// word is the name as it is written: aggregates in upper case.
func (f *function) word() string {
	if f.window {
		return strings.ToUpper(f.name)
	}
	return f.name
}

func (f *function) sign(b *strings.Builder) {
	b.WriteString(f.word() + "(")
	for i, p := range f.params {
		if i > 0 {
			b.WriteString(", ")
		}
		word := paramWords[p]
		if i >= len(f.params)-f.optional {
			word = "[" + word + "]"
		}
		b.WriteString(word)
	}
	if f.repeats {
		b.WriteString(", …")
	}
	b.WriteString(")")
}

// adjust applies what a function does differently from an operator.
func (f *function) adjust(t *Expr) {
	switch f.nulls {
	case nullNever:
		t.Optional = false
	case nullAlways:
		t.Optional = true
	case nullIfAll:
		t.Optional = true
		for _, a := range t.Args {
			t.Optional = t.Optional && a.Optional
		}
	}
	t.Volatility = max(t.Volatility, f.volatile)
	switch f.fails {
	case always:
		t.Fallible = true
	case ifFloat:
		t.Fallible = t.Fallible || t.Type.Kind.Float()
	case ifFloatOrSigns:
		t.Fallible = t.Fallible || t.Type.Kind.Float() || t.Type.Kind.Signed()
	}
	if f.name == leakSensitive {
		t.Sensitive = false
	}
	if f.later {
		t.missing = "function " + f.name
	}
}
