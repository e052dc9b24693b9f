package ast

import "plexus/nspl/vocab"

// Expr is one node of an expression.
type Expr interface {
	// Place is the span from the first to the last token of the node.
	Place() vocab.Span
	expr()
}

// At is the span of an expression node.
type At struct{ Span vocab.Span }

// Place returns the span.
func (a At) Place() vocab.Span { return a.Span }

func (At) expr() {}

// IntLit is a whole number, an I64.
type IntLit struct {
	At
	Value int64
}

// FloatLit is a number with a fraction, an F64.
type FloatLit struct {
	At
	Value float64
}

// StringLit is a STRING.
type StringLit struct {
	At
	Value string
}

// BoolLit is TRUE or FALSE.
type BoolLit struct {
	At
	Value bool
}

// NullLit is NULL, whose type comes from where it stands.
type NullLit struct{ At }

// Scope is the word before the point of a field.
type Scope uint8

// The scopes that can be written. ScopeBare is none.
const (
	ScopeBare Scope = iota
	ScopeInput
	ScopeMessage
	ScopeOutput
	ScopeBranch
	ScopeLeft
	ScopeRight
	ScopeMetadata
	ScopePartialOutput
	ScopeError
	ScopeRelayState
)

var scopeNames = [...]string{"", "input", "message", "output", "branch", "left", "right", "metadata", "partial_output", "error", "relay_state"}

// String returns the word.
func (s Scope) String() string { return scopeNames[s] }

// ScopeNamed returns the scope with a lower-case name.
func ScopeNamed(word string) (Scope, bool) {
	for s, name := range scopeNames {
		if s > 0 && name == word {
			return Scope(s), true
		}
	}
	return ScopeBare, false
}

// Field reads a field. Relay is set in relay_state.relay.field only.
type Field struct {
	At
	Scope Scope
	Relay Name
	Name  Name
}

// Call calls a builtin function, or with UDF a user-defined one.
type Call struct {
	At
	UDF  bool
	Name Name
	Args []Expr
}

// UnaryOp is a prefix operator.
type UnaryOp uint8

// The prefix operators.
const (
	Neg UnaryOp = iota
	Not
)

// Unary applies a prefix operator.
type Unary struct {
	At
	Op UnaryOp
	X  Expr
}

// BinaryOp is an infix operator.
type BinaryOp uint8

// The infix operators.
const (
	Or BinaryOp = iota
	And
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Distinct
	NotDistinct
	Add
	Sub
	Mul
	Div
	Rem
)

var binaryNames = [...]string{"OR", "AND", "=", "!=", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "+", "-", "*", "/", "%"}

// String returns the operator as it is written.
func (o BinaryOp) String() string { return binaryNames[o] }

// Binary applies an infix operator.
type Binary struct {
	At
	Op   BinaryOp
	X, Y Expr
}

// In is X [NOT] IN (Set). The elements are constants.
type In struct {
	At
	Not bool
	X   Expr
	Set []Expr
}

// Between is X [NOT] BETWEEN Low AND High.
type Between struct {
	At
	Not          bool
	X, Low, High Expr
}

// Cast is X AS Type, or with Try TRY_CAST(X AS Type).
type Cast struct {
	At
	Try  bool
	X    Expr
	Type Type
}

// Arm is one WHEN of a conditional.
type Arm struct{ When, Then Expr }

// Conditional is CASE, or with If the form with IF and exactly one arm. Operand
// and Else may be nil.
type Conditional struct {
	At
	If      bool
	Operand Expr
	Arms    []Arm
	Else    Expr
}

// List is [a, ...].
type List struct {
	At
	Items []Expr
}

// JSONForm is the word of a JSON extraction.
type JSONForm uint8

// The extractions.
const (
	JSONValue JSONForm = iota
	TryJSONValue
	JSONExists
)

var jsonFormNames = [...]string{"JSON_VALUE", "TRY_JSON_VALUE", "JSON_EXISTS"}

// String returns the word.
func (f JSONForm) String() string { return jsonFormNames[f] }

// JSON extracts from JSON text. JSONExists has no Type.
type JSON struct {
	At
	Form JSONForm
	Doc  Expr
	Path Text
	Type Type
}
