package model

import "plexus/nspl/ast"

// Shape is how an entity stands in the graph: what it reads and writes, whatever
// its kind. Entities that read and write nothing have none.
type Shape struct {
	// Branch is what the node declares for its relays; nil for those that take any,
	// or whose routes say it.
	Branch *ast.BranchUse
	// Attached says that the node keeps its sources waiting.
	Attached bool
	// Sides are the inputs; a correlator has two.
	Sides  []ast.Inputs
	States []ast.StateDep
	Feed   *ast.Name // the state that a generator makes rows of
	Routes []ast.Route
	// OnError is that of an emitter, which has no routes.
	OnError *ast.MessageError
	// Timeouts are those of a correlator, for each side.
	Timeouts []ast.CorrelationTimeout
}

// ShapeOf returns the shape of an entity, nil if it has none.
func ShapeOf(e Entity) *Shape {
	switch e := e.(type) {
	case *Ingestor:
		return &Shape{Routes: e.Routes}
	case *Reingestor:
		return &Shape{Attached: e.Attached, Sides: []ast.Inputs{e.Inputs}, States: e.States, Routes: e.Routes}
	case *Generator:
		return &Shape{Branch: &e.Branch, Feed: &e.State, Routes: e.Routes}
	case *Correlator:
		return &Shape{
			Branch: &e.Branch, Attached: e.Attached, Sides: []ast.Inputs{e.Left, e.Right}, States: e.States, Routes: e.Routes,
			Timeouts: []ast.CorrelationTimeout{e.OnLeft, e.OnRight},
		}
	case *Emitter:
		return &Shape{Attached: e.Attached, Sides: []ast.Inputs{e.Inputs}, States: e.States, OnError: &e.OnError}
	}
	if p := ProcessorOf(e); p != nil {
		return &Shape{Branch: &p.Branch, Attached: p.Attached, Sides: []ast.Inputs{p.Inputs}, States: p.States, Routes: p.Routes}
	}
	return nil
}

// ProcessorOf returns what most processors have in common, nil for other entities.
func ProcessorOf(e Entity) *Processor {
	switch e := e.(type) {
	case *Junction:
		return &e.Processor
	case *Deduplicator:
		return &e.Processor
	case *Reorderer:
		return &e.Processor
	case *Window:
		return &e.Processor
	case *Inferencer:
		return &e.Processor
	case *WASM:
		return &e.Processor
	}
	return nil
}

// Inputs lists the relays that are read, in written order.
func (s *Shape) Inputs() (names []ast.Name) {
	for _, side := range s.Sides {
		for _, in := range side.From {
			names = append(names, in.Relay)
		}
	}
	return names
}

// StateNames lists the relays whose state is read, in written order.
func (s *Shape) StateNames() (names []ast.Name) {
	if s.Feed != nil {
		names = append(names, *s.Feed)
	}
	for _, d := range s.States {
		names = append(names, d.Relay)
	}
	return names
}

// Errors lists what ON MESSAGE ERROR says, in written order.
func (s *Shape) Errors() (list []ast.MessageError) {
	for i := range s.Routes {
		list = append(list, s.Routes[i].OnError)
	}
	if s.OnError != nil {
		list = append(list, *s.OnError)
	}
	return list
}

// Outputs lists the relays that are written: by routes, for message errors and for
// rows that found no match.
func (s *Shape) Outputs() (names []ast.Name) {
	for i := range s.Routes {
		names = append(names, s.Routes[i].To)
	}
	for _, e := range s.Errors() {
		if e.Action == ast.ErrorSendTo {
			names = append(names, e.To)
		}
	}
	for _, t := range s.Timeouts {
		if t.To != nil {
			names = append(names, *t.To)
		}
	}
	return names
}
