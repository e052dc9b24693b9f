package ast

import "plexus/nspl/vocab"

// CreateWindow is CREATE WINDOW PROCESSOR. MaxState is nil where it was left out.
type CreateWindow struct {
	Processor
	Width, Step Bound
	MaxState    *Size
}

// Bound is how far a window reaches or steps: by messages, by time, or both.
type Bound struct {
	Messages *Uint
	Duration *Duration
	Span     vocab.Span
}
