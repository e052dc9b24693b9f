package ast

import "plexus/nspl/vocab"

// CreateInferencer is CREATE INFERENCER.
type CreateInferencer struct {
	Processor
	Model   Binding
	File    Text
	Tensors []TensorInput // INPUTS
	Output  []Tensor      // OUTPUT SCHEMA
}

// Tensor is a tensor of the model: its name and its axes.
type Tensor struct {
	Name Text
	Axes []Axis
	Span vocab.Span
}

// TensorInput is a tensor with the expression that fills it.
type TensorInput struct {
	Tensor
	Value Expr
}

// AxisKind says what the length of an axis is.
type AxisKind uint8

// The kinds of axes.
const (
	AxisFixed   AxisKind = iota // a number
	AxisBatch                   // BATCH: the rows of one unit of work
	AxisDynamic                 // DYNAMIC
)

// Axis is one axis of a tensor. Length belongs to AxisFixed.
type Axis struct {
	Kind   AxisKind
	Length Uint
	Span   vocab.Span
}
