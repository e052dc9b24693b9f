package typed

import (
	"strings"

	"plexus/nspl/vocab"
)

// Function is what callers see of a user-defined function.
type Function struct {
	Name     string
	Params   []Param
	Returns  vocab.Type
	Optional bool // the result may be null
	Volatile bool
}

// Param is an argument of a function. A call whose argument is null yields null
// unless the argument is optional.
type Param struct {
	Name     string
	Type     vocab.Type
	Optional bool
}

// Signature returns how the function is called and what it returns.
func (f *Function) Signature() string {
	var b strings.Builder
	b.WriteString("udf::" + f.Name + "(")
	for i, p := range f.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name + " " + p.Type.String())
		if p.Optional {
			b.WriteString(" OPTIONAL")
		}
	}
	b.WriteString(") RETURNS " + f.Returns.String())
	if f.Optional {
		b.WriteString(" OPTIONAL")
	}
	if f.Volatile {
		b.WriteString(" VOLATILE")
	}
	return b.String()
}
