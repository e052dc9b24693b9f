package ast

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
