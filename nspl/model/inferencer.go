package model

import (
	"math"
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Inferencer runs a model over rows.
type Inferencer struct {
	Processor
	Model   ast.Binding
	File    ast.Text
	Tensors []ast.TensorInput
	Output  []ast.Tensor
}

// Kind returns the kind.
func (*Inferencer) Kind() vocab.EntityKind { return vocab.EntityInferencer }

// Bound returns the model.
func (x *Inferencer) Bound() *ast.Binding { return &x.Model }

// Refs returns what a processor names, and the resource.
func (x *Inferencer) Refs() []Ref { return appendBound(x.Processor.Refs(), &x.Model) }

// Batched reports whether the model takes the rows of a unit of work together.
func (x *Inferencer) Batched() bool {
	return slices.ContainsFunc(x.Output, func(t ast.Tensor) bool {
		return slices.ContainsFunc(t.Axes, func(a ast.Axis) bool { return a.Kind == ast.AxisBatch })
	})
}

// Generated is what routes read of the model: a field for each output tensor.
func (x *Inferencer) Generated() *vocab.Schema {
	s := &vocab.Schema{Name: x.Name}
	for _, t := range x.Output {
		s.Fields = append(s.Fields, vocab.Field{Name: strings.ToLower(t.Name.Text), Type: TensorType(t)})
	}
	return s
}

// TensorType is the type of a field that holds a tensor: a fixed axis is an ARRAY,
// a dynamic one a VEC. The BATCH axis is that of the rows.
func TensorType(t ast.Tensor) vocab.Type {
	typ := vocab.Scalar(vocab.F32)
	for i := len(t.Axes) - 1; i >= 0; i-- {
		switch a := t.Axes[i]; a.Kind {
		case ast.AxisFixed:
			typ = vocab.ArrayOf(typ, uint32(a.Length.Value))
		case ast.AxisDynamic:
			typ = vocab.VecOf(typ)
		}
	}
	return typ
}

func lowerInferencer(c *checker, d *ast.CreateInferencer) *Inferencer {
	m := &Inferencer{lowerProcessor(c, &d.Processor), d.Model, d.File, d.Tensors, d.Output}
	c.file(d.File)
	var inputs, outputs nameSet
	var all []ast.Tensor
	for _, t := range d.Tensors {
		c.unique(&inputs, ast.Name(t.Name), "duplicate input tensor '%s'")
		all = append(all, t.Tensor)
	}
	for _, t := range d.Output {
		if !fieldName(t.Name.Text) {
			c.invalid(t.Name.Span, "output tensor '%s' is no valid name: routes read it as a field", t.Name.Text)
		}
		c.unique(&outputs, ast.Name{Text: strings.ToLower(t.Name.Text), Span: t.Name.Span}, "duplicate output tensor '%s'")
		all = append(all, t)
	}
	batched, single := false, false
	for _, t := range all {
		if c.axes(t) {
			batched = true
		} else {
			single = true
		}
	}
	if batched && single {
		c.invalid(d.Name.Span, "INFERENCER '%s' mixes batched and per-message tensors", d.Name.Text)
	}
	return m
}

// axes checks the shape of a tensor and reports whether it has the BATCH axis.
func (c *checker) axes(t ast.Tensor) (batched bool) {
	others := 0
	for _, a := range t.Axes {
		switch {
		case a.Kind == ast.AxisBatch && batched:
			c.invalid(a.Span, "tensor '%s' contains more than one BATCH axis", t.Name.Text)
		case a.Kind == ast.AxisBatch:
			batched = true
		default:
			others++
			if a.Kind == ast.AxisFixed && (a.Length.Value == 0 || a.Length.Value > math.MaxInt32) {
				c.invalid(a.Span, "the length of an axis must be 1 to %d", math.MaxInt32)
			}
		}
	}
	if others > tensorAxesMax {
		c.invalid(t.Span, "a tensor has at most %d axes besides BATCH", tensorAxesMax)
	}
	return batched
}

// file demands the name of a file inside a resource.
func (c *checker) file(f ast.Text) {
	if f.Text == "" || strings.HasPrefix(f.Text, "/") {
		c.invalid(f.Span, "FILE must be a path inside the resource")
		return
	}
	for part := range strings.SplitSeq(f.Text, "/") {
		if part == ".." {
			c.invalid(f.Span, "FILE must be a path inside the resource")
			return
		}
	}
}

// fieldName reports whether a text can name a field.
func fieldName(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	return strings.IndexFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("_.~-", r)
	}) < 0
}
