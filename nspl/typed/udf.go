package typed

import "plexus/nspl/vocab"

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
