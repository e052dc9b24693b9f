package vocab

import (
	"strconv"
	"strings"
)

// Kind is the outermost constructor of a type.
type Kind uint8

// The kinds, in the order of the specification.
const (
	KindInvalid Kind = iota
	U8
	U16
	U32
	U64
	I8
	I16
	I32
	I64
	F32
	F64
	Bool
	String
	Bytes
	Datetime
	Array // fixed-size list
	Vec   // variable-size list
)

var kindNames = [...]string{"INVALID", "U8", "U16", "U32", "U64", "I8", "I16", "I32", "I64", "F32", "F64",
	"BOOL", "STRING", "BYTES", "DATETIME", "ARRAY", "VEC"}

// String returns the keyword of the kind.
func (k Kind) String() string { return kindNames[k] }

// Scalar reports whether the kind is no list.
func (k Kind) Scalar() bool { return k >= U8 && k <= Datetime }

// Integer reports whether the kind is an integer of any width.
func (k Kind) Integer() bool { return k >= U8 && k <= I64 }

// Signed reports whether the kind is a signed integer.
func (k Kind) Signed() bool { return k >= I8 && k <= I64 }

// Float reports whether the kind is F32 or F64.
func (k Kind) Float() bool { return k == F32 || k == F64 }

// Numeric reports whether the kind takes part in arithmetic.
func (k Kind) Numeric() bool { return k >= U8 && k <= F64 }

// Type is an exact NSPL type. Equality is [Type.Equal]; no type converts into
// another implicitly.
type Type struct {
	Kind Kind
	Elem *Type  // element of ARRAY and VEC, else nil
	Size uint32 // length of ARRAY, else 0
}

// Scalar returns the type of a scalar kind.
func Scalar(k Kind) Type { return Type{Kind: k} }

// VecOf returns VEC<elem>.
func VecOf(elem Type) Type { return Type{Kind: Vec, Elem: &elem} }

// ArrayOf returns ARRAY<elem, sizes...>, the first size outermost.
func ArrayOf(elem Type, sizes ...uint32) Type {
	for i := len(sizes) - 1; i >= 0; i-- {
		inner := elem
		elem = Type{Kind: Array, Elem: &inner, Size: sizes[i]}
	}
	return elem
}

// Equal reports whether both types are the same.
func (t Type) Equal(o Type) bool {
	if t.Kind != o.Kind || t.Size != o.Size {
		return false
	}
	if t.Elem == nil || o.Elem == nil {
		return t.Elem == o.Elem
	}
	return t.Elem.Equal(*o.Elem)
}

// String returns the NSPL spelling.
func (t Type) String() string {
	switch t.Kind {
	case Vec:
		return "VEC<" + t.Elem.String() + ">"
	case Array:
		var sizes strings.Builder
		elem := t
		for elem.Kind == Array {
			sizes.WriteString(", " + strconv.FormatUint(uint64(elem.Size), 10))
			elem = *elem.Elem
		}
		return "ARRAY<" + elem.String() + sizes.String() + ">"
	default:
		return t.Kind.String()
	}
}

// Field is one column of a schema.
type Field struct {
	Name      string
	Type      Type
	Optional  bool
	Sensitive bool
}

// Schema is the named, ordered list of columns that a relay, a codec or a
// branch key has.
type Schema struct {
	Name   string
	Fields []Field
}

// Index returns the position of a field, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Span is a half-open range of byte offsets into the text of a request.
type Span struct{ Start, End int }

// Cover returns the smallest span that holds both.
func (s Span) Cover(o Span) Span { return Span{min(s.Start, o.Start), max(s.End, o.End)} }
