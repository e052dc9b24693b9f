package model

import (
	"time"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// checker collects the faults of one declaration.
type checker struct{ found ast.Diagnostics }

func (c *checker) add(d *ast.Diagnostic) { c.found = append(c.found, d) }

func (c *checker) invalid(span vocab.Span, format string, args ...any) {
	c.add(ast.Errorf(ast.CodeInvalid, span, format, args...))
}

// nameSet remembers the names of one list.
type nameSet map[string]bool

// unique reports the second and each later occurrence of a name.
func (c *checker) unique(seen *nameSet, n ast.Name, format string) {
	if *seen == nil {
		*seen = nameSet{}
	}
	if (*seen)[n.Text] {
		c.invalid(n.Span, format, n.Text)
	}
	(*seen)[n.Text] = true
}

// fields reports a schema that is too wide.
func (c *checker) fields(n int, name ast.Name) {
	if n > fieldsMax {
		c.invalid(name.Span, "a schema has at most %d fields, not %d", fieldsMax, n)
	}
}

// bounds reports a number outside what its clause takes.
func (c *checker) bounds(n ast.Uint, clause string, low, high uint64) {
	if n.Value < low || n.Value > high {
		c.invalid(n.Span, "%s must be %d to %d", clause, low, high)
	}
}

func (c *checker) positive(d ast.Duration, clause string) {
	if d.Nanos == 0 {
		c.invalid(d.Span, "%s must be greater than zero", clause)
	}
}

func (c *checker) size(s ast.Size, clause string) {
	if s.Bytes == 0 {
		c.invalid(s.Span, "%s must be greater than zero", clause)
	}
}

func (c *checker) atLeast(d ast.Duration, clause string, low time.Duration) {
	if d.Nanos < uint64(low) {
		c.invalid(d.Span, "%s must be at least %v", clause, low)
	}
}

func (c *checker) retry(r ast.Retry) {
	c.positive(r.Backoff, "RETRY POLICY BACKOFF")
	if r.Max.Nanos < r.Backoff.Nanos {
		c.invalid(r.Max.Span, "RETRY POLICY MAX must not be shorter than BACKOFF")
	}
}

func (c *checker) window(max *ast.Uint) {
	if max != nil && max.Value == 0 {
		c.invalid(max.Span, "PARALLEL MAX must be greater than zero")
	} else if max != nil && max.Value > parallelMax {
		c.invalid(max.Span, "PARALLEL MAX must be at most %d", parallelMax)
	}
}

func (c *checker) flush(f ast.Flush) {
	if !f.Immediate {
		c.positive(f.Each, "FLUSH EACH")
		c.size(f.MaxBatch, "MAX BATCH SIZE")
	}
}

// inputs checks what a node reads; a correlator has two sides.
func (c *checker) inputs(sides ...ast.Inputs) {
	var names nameSet
	for _, in := range sides {
		for _, i := range in.From {
			c.unique(&names, i.Relay, "relay '%s' is listed twice")
		}
		if in.Collect != nil {
			c.collect(in.Collect)
		}
	}
}

func (c *checker) collect(x *ast.Collect) {
	c.positive(x.For, "COLLECT FOR")
	if x.MaxBatchSize != nil {
		c.size(*x.MaxBatchSize, "MAX BATCH SIZE")
	}
}

// states checks the dependencies of a node on materialized state.
func (c *checker) states(deps []ast.StateDep) {
	var names nameSet
	for _, d := range deps {
		c.unique(&names, d.Relay, "materialized state '%s' is used twice")
		for _, a := range d.Default {
			if a.Scope != ast.ScopeBare {
				c.add(ast.Errorf(ast.CodeInvalid, a.Target.Span, "DEFAULT takes bare field names").
					WithHint("%s = …", a.Target.Text))
			}
		}
	}
}

func (c *checker) messageError(e ast.MessageError) {
	for _, a := range e.Set {
		if a.Scope != ast.ScopeBare {
			c.add(ast.Errorf(ast.CodeInvalid, a.Target.Span, "SET of ON MESSAGE ERROR takes bare field names").
				WithHint("%s = …", a.Target.Text))
		}
	}
}

func (c *checker) routes(routes []ast.Route) {
	for _, r := range routes {
		if !r.Flush.Absent() {
			c.flush(r.Flush)
		}
		c.messageError(r.OnError)
	}
}

// externalNames checks each name with the rule of its owner.
func (c *checker) externalNames(names ast.ExternalNames, rules []vocab.NameRule) {
	for _, n := range names {
		for _, rule := range rules {
			if rule.Role != n.Role {
				continue
			}
			if err := rule.Check(n.Text.Text); err != nil {
				c.invalid(n.Text.Span, "%s '%s' %v", n.Role, ast.Shown(n.Text.Text), err)
			}
		}
	}
}
