package ast

import "strings"

// functionAliases are second names of builtin functions. The parser replaces
// them, so that no later form knows two names of one function.
var functionAliases = map[string]string{
	"btrim":       "trim",
	"char_length": "length",
	"substring":   "substr",
	"ceiling":     "ceil",
	"power":       "pow",
}

// CanonicalFunction returns the name that a function is known by.
func CanonicalFunction(name string) string {
	if canonical, ok := functionAliases[name]; ok {
		return canonical
	}
	return name
}

// LookupHashMap is the function that reads a hash map.
const LookupHashMap = "lookup_hash_map"

// LookedUp returns the hash map that a call reads, which its first argument names.
func LookedUp(c *Call) (Name, bool) {
	if c.UDF || c.Name.Text != LookupHashMap || len(c.Args) == 0 {
		return Name{}, false
	}
	s, ok := c.Args[0].(*StringLit)
	if !ok {
		return Name{}, false
	}
	return Name{Text: strings.ToLower(s.Value), Span: s.Span}, true
}
