package model

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Entity is one declared thing.
type Entity interface {
	Kind() vocab.EntityKind
	EntityName() string
	// Refs lists the references of the entity in written order.
	Refs() []Ref
}

// Ref is a reference to another entity of the domain.
type Ref struct {
	Kind vocab.EntityKind
	Name string
	Span vocab.Span
}

// Equal reports whether two entities are the same wherever they were written.
func Equal(a, b Entity) bool { return ast.Equal(a, b) }

// Lower turns a declaration into its entity and reports every fault of it. With
// faults the entity is nil.
func Lower(d ast.Declaration) (Entity, ast.Diagnostics) {
	c := &checker{}
	var e Entity
	switch d := d.(type) {
	case *ast.CreateDomain:
		e = lowerDomain(c, d)
	case *ast.CreateSchema:
		e = lowerSchema(c, d)
	case *ast.CreateWireSchema:
		e = lowerWireSchema(c, d)
	case *ast.CreateCodec:
		e = lowerCodec(c, d)
	case *ast.CreateUDF:
		e = lowerUDF(c, d)
	case *ast.CreateBranch:
		e = lowerBranch(c, d)
	case *ast.CreateRelay:
		e = lowerRelay(c, d)
	case *ast.CreateClient:
		e = lowerClient(c, d)
	case *ast.CreateVHost:
		e = lowerVHost(c, d)
	case *ast.CreateEndpoint:
		e = lowerEndpoint(c, d)
	case *ast.CreatePlacement:
		e = lowerPlacement(c, d)
	case *ast.CreateIngestor:
		e = lowerIngestor(c, d)
	case *ast.CreateReingestor:
		e = lowerReingestor(c, d)
	case *ast.CreateGenerator:
		e = lowerGenerator(c, d)
	case *ast.CreateJunction:
		e = lowerJunction(c, d)
	case *ast.CreateDeduplicator:
		e = lowerDeduplicator(c, d)
	case *ast.CreateReorderer:
		e = lowerReorderer(c, d)
	case *ast.CreateCorrelator:
		e = lowerCorrelator(c, d)
	case *ast.CreateWindow:
		e = lowerWindow(c, d)
	case *ast.CreateInferencer:
		e = lowerInferencer(c, d)
	case *ast.CreateWASM:
		e = lowerWASM(c, d)
	case *ast.CreateEmitter:
		e = lowerEmitter(c, d)
	}
	if len(c.found) > 0 {
		slices.SortStableFunc(c.found, func(a, b *ast.Diagnostic) int { return a.Span.Start - b.Span.Start })
		return nil, c.found.About(ast.Entity{Kind: d.Declares(), Name: d.Declared().Name.Text})
	}
	return e, nil
}

func ref(kind vocab.EntityKind, n ast.Name) Ref { return Ref{kind, n.Text, n.Span} }
