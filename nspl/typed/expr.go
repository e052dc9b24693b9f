package typed

import "plexus/nspl/vocab"

// Op says what a node computes.
type Op uint8

// The operations. Args lists their operands in written order.
const (
	OpLiteral      Op = iota // Literal
	OpColumn                 // Column
	OpCall                   // Func over Args
	OpNot                    // NOT a
	OpNeg                    // -a
	OpAnd                    // a AND b
	OpOr                     // a OR b
	OpEq                     // a = b
	OpNe                     // a != b
	OpLt                     // a < b
	OpLe                     // a <= b
	OpGt                     // a > b
	OpGe                     // a >= b
	OpDistinct               // a IS DISTINCT FROM b
	OpNotDistinct            // a IS NOT DISTINCT FROM b
	OpAdd                    // a + b
	OpSub                    // a - b
	OpMul                    // a * b
	OpDiv                    // a / b
	OpRem                    // a % b
	OpIn                     // a IN Set; Negated for NOT IN
	OpBetween                // a BETWEEN b AND c; Negated for NOT BETWEEN
	OpCast                   // a AS Type
	OpTryCast                // TRY_CAST(a AS Type)
	OpCase                   // Args: cond1, result1, cond2, result2, ..., else (always present, a typed null if it was omitted)
	OpCaseValue              // Args: operand, match1, result1, ..., else
	OpList                   // [a, ...]
	OpJSONValue              // JSON_VALUE(a, Path AS Type)
	OpTryJSONValue           // TRY_JSON_VALUE(a, Path AS Type)
	OpJSONExists             // JSON_EXISTS(a, Path)
	OpLookup                 // LOOKUP_HASH_MAP(Lookup, a)
	OpAggregate              // Func over Args, which are evaluated when a row enters the window
	OpUDF                    // UDF over Args
)

// Volatility decides what may be folded or shared (chapter 11 section 1.1).
type Volatility uint8

// The volatility classes.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Scope is where a column is read from.
type Scope uint8

// The scopes of a resolved column. A bare name and message.name are resolved to
// Input or Output by the working-message rules before this form exists.
const (
	ScopeInput         Scope = iota // the row as it arrived
	ScopeOutput                     // the row under construction, current value
	ScopeError                      // fields of the error being handled
	ScopePartialOutput              // the failed route's output, every field optional
	ScopeMetadata                   // transport metadata of an ingestor
	ScopeLeft                       // the left row of a correlator
	ScopeRight                      // the right one
	ScopeBranch                     // the key of the branch; in CheckBranchKey that under construction
	ScopeState                      // the materialized state of relay Column.State
	ScopeGenerated                  // what an inferencer or WASM processor made
	ScopeLocal                      // arguments, then LETs, of a user-defined function
)

// Column is a resolved read.
type Column struct {
	Scope Scope
	Index int    // position in the scope's schema
	Name  string // as declared
	State string // the relay of ScopeState
}

// Lookup is what a call of LOOKUP_HASH_MAP reads.
type Lookup struct {
	Map   string
	Index int // of the field in the schema of the map
	Field string
}

// Literal is a constant. The field that holds it follows from the node's type:
// Int for signed integers and DATETIME (Unix nanoseconds), Uint for unsigned
// ones, Float, Bool, Str for STRING and BYTES.
type Literal struct {
	Null  bool
	Int   int64
	Uint  uint64
	Float float64
	Bool  bool
	Str   string
}

// Expr is one checked node.
type Expr struct {
	Op         Op
	Type       vocab.Type
	Optional   bool
	Sensitive  bool
	Volatility Volatility
	// Fallible says that evaluating the subtree can fail a row.
	Fallible bool
	Negated  bool
	Span     vocab.Span

	Args    []*Expr
	Literal Literal
	Column  Column
	Func    string    // canonical lower-case name of a function or aggregate
	Set     []Literal // OpIn; no nulls, operand's type
	Path    []vocab.JSONStep
	Lookup  *Lookup
	UDF     *Function

	// missing says what of the node itself engine/expr has no kernel for.
	missing string
}

// Step initialises or overwrites one output field.
type Step struct {
	Target  int // index in the output schema
	Inherit bool
	Expr    *Expr
}

// Construction builds a route's output from its input: the steps in order
// (INHERIT first), then typed nulls for optional fields that were never set,
// then Where over the finished output. Where nil keeps every row.
type Construction struct {
	Output *vocab.Schema
	Steps  []Step
	Where  *Expr
}
