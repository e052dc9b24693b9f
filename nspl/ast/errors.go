package ast

import (
	"fmt"
	"strconv"
	"strings"

	"plexus/nspl/vocab"
)

// Code says what kind of fault a diagnostic is. Callers decide by code, never by
// text.
type Code string

// The codes that the language itself raises. Codes of expressions begin with
// "expr.".
const (
	CodeLex                Code = "lex"
	CodeParse              Code = "parse"
	CodeInvalid            Code = "invalid"
	CodeUnavailable        Code = "unavailable"
	CodeRefMissing         Code = "ref.missing"
	CodeRefKind            Code = "ref.kind"
	CodeSchemaIncompatible Code = "schema.incompatible"
	CodeBranchIncompatible Code = "branch.incompatible"
	CodeTxRequired         Code = "tx.required"

	CodeUnknownField        Code = "expr.unknown_field"
	CodeScope               Code = "expr.scope"
	CodeUnknownFunction     Code = "expr.unknown_function"
	CodeArity               Code = "expr.arity"
	CodeTypeMismatch        Code = "expr.type_mismatch"
	CodeUnsupportedCast     Code = "expr.unsupported_cast"
	CodeUnsupportedResult   Code = "expr.unsupported_result"
	CodeInvalidLiteral      Code = "expr.invalid_literal"
	CodeInSet               Code = "expr.in_set"
	CodeNullLiteral         Code = "expr.null_literal"
	CodeNullForRequired     Code = "expr.null_for_required"
	CodeMissingSet          Code = "expr.missing_set"
	CodeUninitializedOutput Code = "expr.uninitialized_output"
	CodeContext             Code = "expr.context"
	CodeAggregate           Code = "expr.aggregate"
	CodeVolatile            Code = "expr.volatile"
	CodeSensitiveLeak       Code = "expr.sensitive_leak"
)

// Entity names what a diagnostic is about.
type Entity struct {
	Kind vocab.EntityKind
	Name string
}

// String returns the form that messages use.
func (e Entity) String() string { return e.Kind.String() + " '" + e.Name + "'" }

// Diagnostic is one fault of a statement. It never holds a password, the value of
// a secret CONFIG key or a payload.
type Diagnostic struct {
	Code    Code
	Message string
	// Span is the place in the text that was sent. A fault without a place has
	// the zero span.
	Span vocab.Span
	Hint string
	// Entity is what the statement declares or asks for; the zero value where it
	// is not known.
	Entity Entity
	// Target is what the entity lacks; the zero value where it lacks nothing. Its kind
	// is 0 where several would do.
	Target Entity
}

// Error returns code and message on one line.
func (d *Diagnostic) Error() string { return string(d.Code) + ": " + d.Message }

// expectedMax bounds how many of the expected forms people are shown at once.
const expectedMax = 12

// Brief returns the message for people: where many things were expected only the
// first of them.
func (d *Diagnostic) Brief() string {
	const begin, end, joint = "expected ", ", found ", " | "
	list, ok := strings.CutPrefix(d.Message, begin)
	at := strings.Index(list, end)
	if d.Code != CodeParse || !ok || at < 0 {
		return d.Message
	}
	items := strings.Split(list[:at], joint)
	if len(items) <= expectedMax {
		return d.Message
	}
	shown := items[:expectedMax-2]
	return fmt.Sprintf("%s%s%s… %d more%s", begin, strings.Join(shown, joint), joint, len(items)-len(shown), list[at:])
}

// Errorf makes a diagnostic with a place. Its message is one line, whatever the
// texts hold that it names.
func Errorf(code Code, span vocab.Span, format string, args ...any) *Diagnostic {
	return &Diagnostic{Code: code, Message: oneLine(fmt.Sprintf(format, args...)), Span: span}
}

// oneLine writes what would move the cursor of a terminal as Go does.
func oneLine(text string) string {
	moves := func(r rune) bool { return r == '\n' || r == '\t' || hidden(r) }
	if strings.IndexFunc(text, moves) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if moves(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shownMax bounds how much of a text a message shows.
const shownMax = 60

// Shown is how a message shows a text: the beginning of a long one.
func Shown(text string) string {
	if len(text) <= shownMax {
		return text
	}
	return strings.ToValidUTF8(text[:shownMax], "") + "…"
}

// WithHint adds what to do about it.
func (d *Diagnostic) WithHint(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// Naming lets the message name the entity, where it does not yet: the fault is in
// another one than the statement is about.
func (d *Diagnostic) Naming() {
	if d.Entity.Kind != 0 && !strings.Contains(d.Message, d.Entity.String()) {
		d.Message = d.Entity.String() + ": " + d.Message
	}
}

// WithTarget adds what the entity lacks.
func (d *Diagnostic) WithTarget(kind vocab.EntityKind, name string) *Diagnostic {
	d.Target = Entity{Kind: kind, Name: name}
	return d
}

// Diagnostics are all faults of one entity, in the order of the text.
type Diagnostics []*Diagnostic

// Err returns the diagnostics as an error, nil if there are none.
func (d Diagnostics) Err() error {
	if len(d) == 0 {
		return nil
	}
	return d
}

// Error returns the diagnostics one per line.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i := range d {
		lines[i] = d[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As access to each diagnostic.
func (d Diagnostics) Unwrap() []error {
	list := make([]error, len(d))
	for i := range d {
		list[i] = d[i]
	}
	return list
}

// About returns the diagnostics with the entity filled in where it is missing.
func (d Diagnostics) About(e Entity) Diagnostics {
	for _, one := range d {
		if one.Entity.Kind == 0 {
			one.Entity = e
		}
	}
	return d
}
