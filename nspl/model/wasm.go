package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// WASM runs a guest module over rows.
type WASM struct {
	Processor
	Module    ast.Binding
	File      ast.Text
	MaxFuel   uint64
	MaxMemory ast.Size
	// ResetRejected starts anew where the guest does not take its saved state back;
	// else the processor stops over it.
	ResetRejected bool
	OnError       ast.GeneralError
}

// Kind returns the kind.
func (*WASM) Kind() vocab.EntityKind { return vocab.EntityWASM }

// Bound returns the module.
func (x *WASM) Bound() *ast.Binding { return &x.Module }

// Refs returns what a processor names, and the resource.
func (x *WASM) Refs() []Ref { return appendBound(x.Processor.Refs(), &x.Module) }

func lowerWASM(c *checker, d *ast.CreateWASM) *WASM {
	m := &WASM{
		Processor: lowerProcessor(c, &d.Processor), Module: d.Module, File: d.File, MaxFuel: d.MaxFuel.Value,
		MaxMemory: d.MaxMemory, ResetRejected: d.Rejected == ast.RejectedReset, OnError: d.OnError,
	}
	c.file(d.File)
	if d.MaxFuel.Value == 0 {
		c.invalid(d.MaxFuel.Span, "MAX FUEL must be greater than zero")
	}
	if d.MaxMemory.Bytes < guestMemoryMin || d.MaxMemory.Bytes > guestMemoryMax {
		c.invalid(d.MaxMemory.Span, "MAX MEMORY must be 64KiB to 4GiB")
	}
	return m
}
