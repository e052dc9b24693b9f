package model

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// SignalOf lists the values that an OTEL sink can map.
func SignalOf(s ast.Sink) []vocab.OTELValue {
	if s.Metric == nil {
		return vocab.OTELValues(s.Entity, 0, false)
	}
	return vocab.OTELValues(s.Entity, s.Metric.Instrument, !s.Metric.Cumulative)
}

// telemetry checks the keys of VALUES against those of the signal.
func (c *checker) telemetry(s ast.Sink) {
	signal := SignalOf(s)
	var known []string
	for _, f := range signal {
		known = append(known, f.Name)
	}
	for _, m := range s.Values {
		if m.Key.Text != "" && !slices.Contains(known, m.Key.Text) {
			d := ast.Errorf(ast.CodeInvalid, m.Key.Span, "%s has no value '%s'", s.Entity, m.Key.Text)
			if near := vocab.Nearest(m.Key.Text, known); near != "" {
				d.Hint = "did you mean '" + near + "'?"
			} else {
				d.Hint = "values are " + strings.Join(known, ", ")
			}
			c.add(d)
		}
	}
	for _, f := range signal {
		if f.Required && !slices.ContainsFunc(s.Values, func(m ast.Mapping) bool { return m.Key.Text == f.Name }) {
			c.invalid(s.Span, "%s requires the value '%s'", s.Entity, f.Name)
		}
	}
	if m := s.Metric; m != nil && m.Name.Text == "" {
		c.invalid(m.Name.Span, "METRIC must not be empty")
	}
	if s.Scope != nil && s.Scope.Name.Text == "" {
		c.invalid(s.Scope.Name.Span, "SCOPE must not be empty")
	}
}
