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

// aggregates are the window aggregates. Those with false are functions of lists
// too, and aggregates in the routes of windows only.
var aggregates = map[string]bool{
	"count": false, "sum": false, "min": false, "max": false, "first": false, "last": false,
	"count_if": true, "bool_and": true, "bool_or": true, "avg": true, "arg_min": true, "arg_max": true, "var_pop": true,
	"stddev_pop": true, "var_samp": true, "stddev_samp": true, "covar_pop": true, "covar_samp": true, "corr": true,
	"percentile_linear_histogram": true, "approx_count_distinct": true, "approx_quantile": true, "approx_top_k": true,
}

// Aggregate reports whether a function is a window aggregate, in the route of a
// window or elsewhere.
func Aggregate(name string, window bool) bool {
	always, known := aggregates[name]
	return known && (always || window)
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
