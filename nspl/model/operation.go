package model

import (
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// alterRelay applies the operations of ALTER RELAY to a relay, which it keeps.
func alterRelay(c *checker, r *Relay, a *ast.AlterRelay) *Relay {
	for _, change := range a.Changes {
		switch change.Op {
		case ast.RelaySetCapacity:
			c.bounds(change.Capacity, "CAPACITY", 1, capacityBatchesMax)
			r.Capacity = change.Capacity.Value
		case ast.RelaySetSchema:
			r.Schema = change.Schema
		case ast.RelaySetBranch:
			r.Branch = change.Branch
		case ast.RelaySetState:
			r.Materialized = true
		case ast.RelayDropState:
			if !r.Materialized {
				c.invalid(change.Span, "RELAY '%s' has no MATERIALIZED STATE to drop", r.Name)
			}
			r.Materialized = false
		}
	}
	return r
}

// parts are what the operations of a node change; nil is what its kind has not.
type parts struct {
	of       ast.Entity
	inputs   *ast.Inputs
	filter   *ast.Expr
	attached *bool
	branch   *ast.BranchUse
	states   *[]ast.StateDep
	routes   *[]ast.Route
	keys     *[]ast.Expr
	maxTime  *ast.Duration
}

func partsOf(e Entity) parts {
	p := parts{of: ast.Entity{Kind: e.Kind(), Name: e.EntityName()}}
	if x := ProcessorOf(e); x != nil {
		p.inputs, p.filter, p.attached, p.branch, p.states, p.routes = &x.Inputs, &x.Filter, &x.Attached, &x.Branch, &x.States, &x.Routes
	}
	switch x := e.(type) {
	case *Deduplicator:
		p.keys, p.maxTime = &x.Keys, &x.MaxTime
	case *Reorderer:
		p.keys, p.maxTime = &x.Keys, &x.MaxTime
	case *Reingestor:
		p.inputs, p.filter, p.attached, p.states, p.routes = &x.Inputs, &x.Filter, &x.Attached, &x.States, &x.Routes
	case *Generator:
		p.branch, p.routes = &x.Branch, &x.Routes
	case *Ingestor:
		p.filter, p.routes = &x.Filter, &x.Routes
	case *Emitter:
		p.inputs, p.attached = &x.Inputs, &x.Attached
	}
	return p
}

// alterNode applies the operations of ALTER to a node, which it keeps.
func alterNode(c *checker, e Entity, a *ast.AlterNode) Entity {
	p := partsOf(e)
	for i := range a.Changes {
		change := &a.Changes[i]
		switch change.Op {
		case ast.NodeAddInput, ast.NodeDropInput, ast.NodeSetInputWhere, ast.NodeDropInputWhere, ast.NodeSetCollect, ast.NodeDropCollect:
			c.alterInputs(p, change)
		case ast.NodeAddState, ast.NodeDropState, ast.NodeSetStatePolicy:
			c.alterStates(p, change)
		case ast.NodeAddRoute, ast.NodeDropRoute, ast.NodeReplaceRoute:
			c.alterRoutes(p, change)
		case ast.NodeSetFilter:
			*p.filter = change.Where
		case ast.NodeDropFilter:
			if *p.filter == nil {
				c.absent(p, change, "FILTER")
			}
			*p.filter = nil
		case ast.NodeSetAttachment:
			*p.attached = change.Attachment == ast.Attached
		case ast.NodeSetBranch:
			*p.branch = change.Branch
		case ast.NodeSetKeys:
			*p.keys = change.Keys
		case ast.NodeSetMaxTime:
			c.positive(change.Duration, "MAX TIME")
			*p.maxTime = change.Duration
		default:
			c.alterKind(e, change)
		}
	}
	if len(c.found) > 0 {
		return e
	}
	switch x := e.(type) {
	case *Ingestor:
		c.decodes(x, a.Name.Span)
	case *Emitter:
		c.altered(x, a.Name.Span)
	}
	return e
}

// alterKind applies an operation that one kind has.
func (c *checker) alterKind(e Entity, change *ast.NodeChange) {
	switch x := e.(type) {
	case *Ingestor:
		c.alterIngestor(x, change)
	case *Emitter:
		c.alterEmitter(x, change)
	case *Generator:
		switch change.Op {
		case ast.NodeSetFeed:
			x.State = change.Name
		case ast.NodeSetEach:
			c.positive(change.Duration, "EACH")
			x.Each = change.Duration
		}
	}
}

// absent reports the DROP of what is not set.
func (c *checker) absent(p parts, change *ast.NodeChange, what string) {
	c.invalid(change.Span, "%s has no %s to drop", p.of, what)
}

func (c *checker) alterInputs(p parts, change *ast.NodeChange) {
	from := &p.inputs.From
	at := slices.IndexFunc(*from, func(in ast.Input) bool { return in.Relay.Text == change.Name.Text })
	switch change.Op {
	case ast.NodeSetCollect:
		c.collect(change.Collect)
		p.inputs.Collect = change.Collect
		return
	case ast.NodeDropCollect:
		if p.inputs.Collect == nil {
			c.absent(p, change, "COLLECT")
		}
		p.inputs.Collect = nil
		return
	case ast.NodeAddInput:
		if at >= 0 {
			c.invalid(change.Name.Span, "%s already reads relay '%s'", p.of, change.Name.Text)
			return
		}
		*from = append(*from, ast.Input{Relay: change.Name, Where: change.Where})
		return
	}
	switch {
	case at < 0:
		var relays []string
		for _, in := range *from {
			relays = append(relays, in.Relay.Text)
		}
		c.add(ast.Errorf(ast.CodeInvalid, change.Name.Span, "%s does not read relay '%s'", p.of, change.Name.Text).
			WithHint("%s", among("it reads", change.Name.Text, relays)))
	case change.Op == ast.NodeSetInputWhere:
		(*from)[at].Where = change.Where
	case change.Op == ast.NodeDropInputWhere:
		if (*from)[at].Where == nil {
			c.invalid(change.Span, "input '%s' has no WHERE to drop", change.Name.Text)
		}
		(*from)[at].Where = nil
	case len(*from) == 1:
		c.add(ast.Errorf(ast.CodeInvalid, change.Span, "the last input of %s cannot be dropped", p.of).
			WithHint("ADD FROM another relay before, or DROP %s", p.of.Kind))
	default:
		*from = slices.Delete(*from, at, at+1)
	}
}

func (c *checker) alterStates(p parts, change *ast.NodeChange) {
	name := change.State.Relay
	if change.Op == ast.NodeDropState {
		name = change.Name
	}
	at := slices.IndexFunc(*p.states, func(d ast.StateDep) bool { return d.Relay.Text == name.Text })
	if change.Op != ast.NodeDropState {
		c.states([]ast.StateDep{change.State})
	}
	switch {
	case change.Op == ast.NodeAddState && at >= 0:
		c.invalid(name.Span, "%s already uses the materialized state '%s'", p.of, name.Text)
	case change.Op == ast.NodeAddState:
		*p.states = append(*p.states, change.State)
	case at < 0:
		var relays []string
		for _, d := range *p.states {
			relays = append(relays, d.Relay.Text)
		}
		c.add(ast.Errorf(ast.CodeInvalid, name.Span, "%s does not use the materialized state '%s'", p.of, name.Text).
			WithHint("%s", among("it uses", name.Text, relays)))
	case change.Op == ast.NodeDropState:
		*p.states = slices.Delete(*p.states, at, at+1)
		if len(*p.states) == 0 {
			*p.states = nil
		}
	default:
		(*p.states)[at] = change.State
	}
}

func (c *checker) alterRoutes(p parts, change *ast.NodeChange) {
	name := change.Route.To
	if change.Op == ast.NodeDropRoute {
		name = change.Name
	} else {
		c.routes([]ast.Route{change.Route})
	}
	if change.Op == ast.NodeAddRoute {
		*p.routes = append(*p.routes, change.Route)
		return
	}
	to := func(r ast.Route) bool { return r.To.Text == name.Text }
	at := slices.IndexFunc(*p.routes, to)
	switch {
	case at < 0:
		var relays []string
		for _, r := range *p.routes {
			relays = append(relays, r.To.Text)
		}
		c.add(ast.Errorf(ast.CodeInvalid, name.Span, "%s has no route to '%s'", p.of, name.Text).
			WithHint("%s", among("its routes lead to", name.Text, relays)))
	case slices.ContainsFunc((*p.routes)[at+1:], to):
		c.add(ast.Errorf(ast.CodeInvalid, name.Span, "route to '%s' is ambiguous", name.Text).
			WithHint("several routes lead there: DROP and CREATE the %s in one transaction", p.of.Kind.Words()))
	case change.Op == ast.NodeReplaceRoute:
		(*p.routes)[at] = change.Route
	case len(*p.routes) == 1:
		c.add(ast.Errorf(ast.CodeInvalid, change.Span, "the last route of %s cannot be dropped", p.of).
			WithHint("ADD ROUTE TO another relay before, or DROP %s", p.of.Kind))
	default:
		*p.routes = slices.Delete(*p.routes, at, at+1)
	}
}

// amongMax bounds how many names a hint lists.
const amongMax = 12

// among proposes the name that was meant, or lists the few there are.
func among(what, name string, names []string) string {
	if near := vocab.Nearest(name, names); near != "" {
		return "did you mean '" + near + "'?"
	}
	if len(names) == 0 || len(names) > amongMax {
		return ""
	}
	return what + " " + strings.Join(names, ", ")
}
