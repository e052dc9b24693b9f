package typed

import (
	"strings"

	"plexus/nspl/ast"
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
	anyType param = iota // any type, lists included
	scalar               // any scalar
	number               // any numeric type
	ordered              // numeric, STRING or DATETIME
	integer              // any integer type
	text                 // STRING
	sameAs1              // exactly the type of the first argument
)

// result says what a function returns.
type result uint8

const (
	ofArg1 result = iota // the type of the first argument
	boolean
	int64s
	texts
	datetime
)

// fallible says when a call can fail a row. What builds text can: a batch holds
// only so many bytes in one column. What returns a part of its argument cannot.
type fallible uint8

const (
	never fallible = iota
	always
	ifFloat        // for float arguments only
	ifFloatOrSigns // for float and signed arguments
)

// function is one builtin.
type function struct {
	name string
	// params are the parameters; the last rest of them may be repeated.
	params   []param
	optional int  // how many of params, from the end, may be left out
	repeats  bool // the last parameter may be repeated
	result   result
	nulls    nullRule
	fails    fallible
	volatile Volatility
}

// builtins is every function of the language, in the order of the manual. A name
// is in it exactly when engine/expr has its kernel.
var builtins = []function{
	{name: "coalesce", params: []param{anyType, sameAs1}, optional: 1, repeats: true, nulls: nullIfAll},
	{name: "is_null", params: []param{anyType}, result: boolean, nulls: nullNever},
	{name: "nullif", params: []param{scalar, sameAs1}, nulls: nullAlways},
	{name: "greatest", params: []param{scalar, sameAs1}, optional: 1, repeats: true, nulls: nullIfAll},
	{name: "least", params: []param{scalar, sameAs1}, optional: 1, repeats: true, nulls: nullIfAll},
	{name: "clamp", params: []param{ordered, sameAs1, sameAs1}, fails: always},
	{name: "leak_sensitive", params: []param{anyType}},
	{name: "now", result: datetime, volatile: Stable},
	{name: "uuid_v4", result: texts, volatile: Volatile, fails: always},
	{name: "uuid_v7", result: texts, volatile: Volatile, fails: always},

	{name: "lower", params: []param{text}, result: texts, fails: always},
	{name: "upper", params: []param{text}, result: texts, fails: always},
	{name: "initcap", params: []param{text}, result: texts, fails: always},
	{name: "trim", params: []param{text}, result: texts},
	{name: "ltrim", params: []param{text}, result: texts},
	{name: "rtrim", params: []param{text}, result: texts},
	{name: "length", params: []param{text}, result: int64s},
	{name: "octet_length", params: []param{text}, result: int64s},
	{name: "bit_length", params: []param{text}, result: int64s},
	{name: "ascii", params: []param{text}, result: int64s},
	{name: "left", params: []param{text, integer}, result: texts},
	{name: "right", params: []param{text, integer}, result: texts},
	{name: "substr", params: []param{text, integer, integer}, optional: 1, result: texts},
	{name: "concat", params: []param{text}, repeats: true, result: texts, fails: always},
	{name: "concat_ws", params: []param{text, text}, repeats: true, result: texts, fails: always},
	{name: "repeat", params: []param{text, integer}, result: texts, fails: always},
	{name: "replace", params: []param{text, text, text}, result: texts, fails: always},
	{name: "reverse", params: []param{text}, result: texts, fails: always},
	{name: "translate", params: []param{text, text, text}, result: texts, fails: always},
	{name: "lpad", params: []param{text, integer, text}, result: texts, fails: always},
	{name: "rpad", params: []param{text, integer, text}, result: texts, fails: always},
	{name: "split_part", params: []param{text, text, integer}, result: texts},
	{name: "strpos", params: []param{text, text}, result: int64s},
	{name: "to_hex", params: []param{integer}, result: texts, fails: always},
	{name: "md5", params: []param{text}, result: texts, fails: always},
	{name: "contains", params: []param{text, text}, result: boolean},
	{name: "starts_with", params: []param{text, text}, result: boolean},
	{name: "ends_with", params: []param{text, text}, result: boolean},

	{name: "abs", params: []param{number}, fails: ifFloatOrSigns},
	{name: "ceil", params: []param{number}, fails: ifFloat},
	{name: "floor", params: []param{number}, fails: ifFloat},
	{name: "round", params: []param{number, integer}, optional: 1, fails: always},
	{name: "trunc", params: []param{number}, fails: ifFloat},
	{name: "sign", params: []param{number}, fails: ifFloat},

	// One value per message of the source, so shared but never folded.
	{name: readHeader, params: []param{text}, result: texts, nulls: nullAlways, volatile: Stable, fails: always},
}

const (
	readHeader    = "read_header"
	leakSensitive = "leak_sensitive"
)

// Functions lists the names of the builtin functions in the order of the manual.
func Functions() []string {
	names := make([]string, len(builtins))
	for i := range builtins {
		names[i] = builtins[i].name
	}
	return names
}

func functionNamed(name string) *function {
	for i := range builtins {
		if builtins[i].name == name {
			return &builtins[i]
		}
	}
	return nil
}

// takes reports whether the function can be called with n arguments.
func (f *function) takes(n int) bool {
	return n >= len(f.params)-f.optional && (n <= len(f.params) || f.repeats)
}

// param returns the parameter of the argument at a position.
func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

var paramWords = [...]string{
	anyType: "value", scalar: "scalar", number: "number", ordered: "number, STRING or DATETIME", integer: "integer", text: "STRING",
	sameAs1: "same type",
}

// Signature returns how a function is called, or "" for an unknown name.
func Signature(name string) string {
	f := functionNamed(name)
	if f == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(name + "(")
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
	return b.String()
}

// accepts reports whether an argument has the type that a parameter takes.
func (p param) accepts(t, first vocab.Type) bool {
	switch p {
	case scalar:
		return t.Kind.Scalar()
	case number:
		return t.Kind.Numeric()
	case ordered:
		return isOrdered(t.Kind)
	case integer:
		return t.Kind.Integer()
	case text:
		return t.Kind == vocab.String
	case sameAs1:
		return t.Equal(first)
	default:
		return true
	}
}

// isOrdered reports whether < compares values of the kind.
func isOrdered(k vocab.Kind) bool { return k.Numeric() || k == vocab.String || k == vocab.Datetime }

// call checks a call of a builtin.
func (c *checker) call(e *ast.Call) *Expr {
	if e.UDF {
		c.unavailable(e, "udf::"+e.Name.Text)
		return nil
	}
	f := functionNamed(e.Name.Text)
	if f == nil {
		d := c.fault(ast.CodeUnknownFunction, e.Name.Span, "unknown function '%s' with %d argument(s)", e.Name.Text, len(e.Args))
		d.Hint = c.near(e.Name.Text, Functions())
		return nil
	}
	args, ok := c.args(e.Args)
	if !f.takes(len(e.Args)) {
		c.fault(ast.CodeArity, e.Span, "%s does not take %d argument(s)", f.name, len(e.Args)).WithHint("%s", Signature(f.name))
		return nil
	}
	if f.name == readHeader && !c.env.Headers {
		c.fault(ast.CodeContext, e.Name.Span, "read_header is not available in %s", c.env.Place).
			WithHint("headers belong to ingestors whose source has them; assign them to a field there")
		return nil
	}
	if !ok {
		return nil
	}
	for i, a := range args {
		if !f.param(i).accepts(a.Type, args[0].Type) {
			c.fault(ast.CodeTypeMismatch, a.Span, "argument %d of %s cannot be %s", i+1, f.name, a.Type).WithHint("%s", Signature(f.name))
			ok = false
		}
	}
	if !ok {
		return nil
	}
	t := combine(OpCall, f.resultType(args), args)
	t.Span, t.Func = e.Span, f.name
	f.adjust(t)
	return t
}

func (f *function) resultType(args []*Expr) vocab.Type {
	switch f.result {
	case boolean:
		return vocab.Scalar(vocab.Bool)
	case int64s:
		return vocab.Scalar(vocab.I64)
	case texts:
		return vocab.Scalar(vocab.String)
	case datetime:
		return vocab.Scalar(vocab.Datetime)
	default:
		return args[0].Type
	}
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
}
