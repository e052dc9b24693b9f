package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// UDF is a user-defined function.
type UDF struct {
	Name     string
	Language vocab.UDFLanguage
	Params   []ast.UDFParam
	Returns  ast.Type
	Optional bool
	Volatile bool

	Code string // NSPL_1, as it was written
	Body *ast.UDFBody

	Binding   *ast.Binding // WASM_1, as all that follows
	File      string
	Export    string
	MaxFuel   uint64
	MaxMemory ast.Size
	TestText  *string
	Tests     []ast.UDFTest // of either language
}

const (
	udfParamsMax  = 8
	udfTextMax    = 64 << 10
	udfMemoryMin  = 64 << 10
	udfMemoryMax  = 4 << 30
	reservedNames = "__plexus_"
)

// Kind returns the kind.
func (*UDF) Kind() vocab.EntityKind { return vocab.EntityUDF }

// EntityName returns the name.
func (u *UDF) EntityName() string { return u.Name }

// Refs returns the resource of the module.
func (u *UDF) Refs() []Ref { return appendBound(nil, u.Binding) }

// Bound returns the resource version of the module.
func (u *UDF) Bound() *ast.Binding { return u.Binding }

// Hash identifies the content of the function: its code, or the version and name
// of its module.
func (u *UDF) Hash() string {
	h := sha256.New()
	h.Write([]byte(u.Code))
	if b := u.Binding; b != nil {
		h.Write([]byte(strings.Join([]string{b.Resource.Text, strconv.FormatUint(b.Version.Number.Value, 10), u.File, u.Export}, "\x00")))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Cases counts the cases of all tests.
func (u *UDF) Cases() int {
	n := 0
	for _, t := range u.Tests {
		n += len(t.Cases)
	}
	return n
}

func lowerUDF(c *checker, d *ast.CreateUDF) *UDF {
	u := &UDF{
		Name: d.Name.Text, Language: d.Language, Params: d.Params, Returns: d.Returns, Optional: d.Optional, Volatile: d.Volatile,
		Code: d.Code.Text, Body: d.Body, Binding: d.Binding, File: d.File.Text, Export: d.Export.Text, MaxFuel: d.MaxFuel.Value,
		MaxMemory: d.MaxMemory, Tests: d.Tests,
	}
	c.udfName(d.Name)
	if len(d.Params) > udfParamsMax {
		c.invalid(d.Params[udfParamsMax].Name.Span, "a UDF has at most %d arguments", udfParamsMax)
	}
	var names nameSet
	for _, p := range d.Params {
		c.udfName(p.Name)
		c.unique(&names, p.Name, "duplicate argument '%s'")
	}
	if d.Body != nil {
		u.Tests = d.Body.Tests
		c.udfText(d.Code, "CODE")
		for _, s := range d.Body.Steps {
			if !s.Reject {
				c.unique(&names, s.Name, "'%s' is bound already")
			}
		}
	}
	if d.Binding != nil {
		c.module(d, u)
	}
	for _, t := range u.Tests {
		for _, test := range t.Cases {
			if len(test.Args) != len(d.Params) {
				c.invalid(test.Span, "a case has one value for each argument: %d, not %d", len(d.Params), len(test.Args))
			}
			c.failure(test.Fails)
		}
	}
	return u
}

// module checks what belongs to WASM_1.
func (c *checker) module(d *ast.CreateUDF, u *UDF) {
	if d.File.Text == "" {
		c.invalid(d.File.Span, "FILE must not be empty")
	}
	if d.Export.Text == "" {
		c.invalid(d.Export.Span, "EXPORT must not be empty")
	}
	if d.MaxFuel.Value == 0 {
		c.invalid(d.MaxFuel.Span, "MAX FUEL must be greater than zero")
	}
	if d.MaxMemory.Bytes < udfMemoryMin || d.MaxMemory.Bytes > udfMemoryMax {
		c.invalid(d.MaxMemory.Span, "MAX MEMORY must be 64KiB to 4GiB")
	}
	if d.TestText != nil {
		u.TestText = &d.TestText.Text
		c.udfText(*d.TestText, "TESTS")
	}
}

func (c *checker) udfName(n ast.Name) {
	if strings.HasPrefix(n.Text, reservedNames) {
		c.invalid(n.Span, "names beginning with '%s' are reserved", reservedNames)
	}
}

func (c *checker) udfText(t ast.Text, clause string) {
	if len(t.Text) > udfTextMax {
		c.invalid(vocab.Span{Start: t.Span.Start, End: t.Span.Start + 1}, "%s must be at most 64 KiB", clause)
	}
}

// failures are the kinds of row errors.
var failures = []string{"division_by_zero", "overflow", "cast_failed", "invalid_argument", "rejected"}

// failure checks the kind that a case expects.
func (c *checker) failure(kind *ast.Text) {
	if kind == nil {
		return
	}
	for _, f := range failures {
		if f == kind.Text {
			return
		}
	}
	c.add(ast.Errorf(ast.CodeInvalid, kind.Span, "'%s' is no kind of failure", kind.Text).
		WithHint("kinds are %s", strings.Join(failures, ", ")))
}
