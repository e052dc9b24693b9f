package model

import "plexus/nspl/ast"

// Subscription is what a session asks to see of a relay. It is no entity of the
// domain and has no canonical form.
type Subscription struct {
	Name       string
	Relay      ast.Name
	Dropping   bool
	SampleRate float64  // 0 to 1
	Where      ast.Expr // nil keeps every row
}

// LowerSubscription fills in the defaults and checks the sample rate.
func LowerSubscription(d *ast.CreateSubscription) (*Subscription, ast.Diagnostics) {
	c := &checker{}
	s := &Subscription{Name: d.Name.Text, Relay: d.Relay, Dropping: d.Dropping, SampleRate: 1, Where: d.Where}
	if d.SampleRate != nil {
		s.SampleRate = d.SampleRate.Value
		if s.SampleRate > 1 {
			c.invalid(d.SampleRate.Span, "BATCH SAMPLE RATE must be 0 to 1")
		}
	}
	return s, c.found
}
