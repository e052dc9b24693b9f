package model

import (
	"strconv"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Window aggregates the rows that a window retains.
type Window struct {
	Processor
	Width, Step ast.Bound
	MaxState    *ast.Size // nil: no bound
}

// Kind returns the kind.
func (*Window) Kind() vocab.EntityKind { return vocab.EntityWindow }

// Sketches returns where a route first calls an aggregate that keeps a sketch, nil
// if none does.
func (w *Window) Sketches() *ast.Call {
	for _, r := range w.Routes {
		if calls := sketches(r); len(calls) > 0 {
			return calls[0]
		}
	}
	return nil
}

func lowerWindow(c *checker, d *ast.CreateWindow) *Window {
	m := &Window{lowerProcessor(c, &d.Processor), d.Width, d.Step, d.MaxState}
	before := len(c.found)
	c.bound(d.Width, "WIDTH")
	c.bound(d.Step, "STEP")
	c.step(d.Width, d.Step)
	if d.MaxState != nil {
		c.size(*d.MaxState, "MAX STATE SIZE")
	}
	if call := m.Sketches(); call != nil && len(c.found) == before {
		c.sketched(m, call)
	}
	return m
}

func (c *checker) bound(b ast.Bound, clause string) {
	if b.Messages != nil && b.Messages.Value == 0 {
		c.invalid(b.Messages.Span, "%s MESSAGES must be greater than zero", clause)
	}
	if b.Duration != nil {
		c.positive(*b.Duration, clause+" DURATION")
	}
}

// step keeps every part of STEP within WIDTH.
func (c *checker) step(width, step ast.Bound) {
	switch {
	case step.Messages == nil:
	case width.Messages == nil:
		c.invalid(step.Messages.Span, "STEP counts MESSAGES, which WIDTH does not")
	case step.Messages.Value > width.Messages.Value:
		c.invalid(step.Messages.Span, "STEP must not exceed WIDTH: %d MESSAGES", width.Messages.Value)
	}
	switch {
	case step.Duration == nil:
	case width.Duration == nil:
		c.invalid(step.Duration.Span, "STEP has a DURATION, which WIDTH has not")
	case step.Duration.Nanos > width.Duration.Nanos:
		c.invalid(step.Duration.Span, "STEP must not exceed WIDTH: %s DURATION", width.Duration.Text)
	}
}

// sketched checks what aggregates that keep sketches need: their panes are spans of
// time, and their memory is reserved.
func (c *checker) sketched(m *Window, call *ast.Call) {
	if m.Width.Messages != nil || m.Step.Messages != nil || m.Step.Duration == nil {
		c.invalid(m.Width.Span, "%s needs WIDTH and STEP of a DURATION only", aggregateName(call))
		return
	}
	if m.MaxState == nil {
		c.add(ast.Errorf(ast.CodeInvalid, call.Span, "%s needs MAX STATE SIZE", aggregateName(call)).
			WithHint("it stands behind STEP, for example MAX STATE SIZE 4MiB"))
		return
	}
	width, pane := m.Width.Duration.Nanos, gcd(m.Width.Duration.Nanos, m.Step.Duration.Nanos)
	panes := width/pane + sketchPanesSpare
	for _, r := range m.Routes {
		reserved := uint64(0)
		for _, call := range sketches(r) {
			reserved += sketchBytes(call)
		}
		if reserved == 0 {
			continue
		}
		if need, over := reservation(reserved, panes); over || need > m.MaxState.Bytes {
			text := strconv.FormatUint(need, 10)
			if over {
				text = "more than 18446744073709551615"
			}
			c.invalid(m.MaxState.Span, "the sketches of route to '%s' need %s bytes in %d panes, and MAX STATE SIZE is %d bytes",
				r.To.Text, text, panes, m.MaxState.Bytes)
		}
	}
}

// reservation is what the panes of sketches take, and whether it is beyond all
// numbers.
func reservation(bytes, panes uint64) (need uint64, over bool) {
	need = bytes * panes
	if need/panes != bytes || need > need+sketchBytesFixed {
		return 0, true
	}
	return need + sketchBytesFixed, false
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
