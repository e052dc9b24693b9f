package expr

import (
	"errors"
	"fmt"
)

// ErrUnsupported says that an expression holds something this build has no
// kernel for. Checked expressions whose Missing names nothing never do.
var ErrUnsupported = errors.New("no kernel")

// Kind is the class of a row's failure.
type Kind uint8

// The kinds of row failures.
const (
	DivisionByZero Kind = iota
	Overflow
	CastFailed
	InvalidArgument
)

var kindNames = [...]string{"division_by_zero", "overflow", "cast_failed", "invalid_argument"}

// String returns the kind as error messages spell it.
func (k Kind) String() string { return kindNames[k] }

// Operation names the part of a program that failed, as error.operation shows
// it.
type Operation string

// The operations that evaluate expressions.
const (
	SourceWhere Operation = "source_where"
	FilterWhere Operation = "filter_where"
	Inherit     Operation = "inherit"
	Set         Operation = "set"
	RouteWhere  Operation = "route_where"
	Invoke      Operation = "invoke"
	ValuesOf    Operation = "values"
)

// NoIndex is the Index of a fault whose operation is not counted.
const NoIndex = -1

// Fault is what can be said of a failure without looking at the row. Faults are
// built when a program is compiled, so a failing row allocates nothing.
type Fault struct {
	Kind      Kind
	Operation Operation
	Index     int      // position of the step or call, or NoIndex
	Fields    []string // sorted scope-qualified names read and written
	what, why string
}

// Message returns "<kind>: <operation>: <reason>".
func (f *Fault) Message() string { return fmt.Sprintf("%s: %s: %s", f.Kind, f.what, f.why) }

// RowError is the first failure of one row of the input batch.
type RowError struct {
	Row   int32
	Fault *Fault
}
