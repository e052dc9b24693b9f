package parse

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// ALTER RELAY name operation, ...
func (p *parser) alterRelay() ast.Statement {
	s := &ast.AlterRelay{Alter: p.alter(vocab.EntityRelay)}
	p.building(s)
	p.operations(func() {
		first := p.at
		s.Changes = append(s.Changes, ast.RelayChange{})
		c := &s.Changes[len(s.Changes)-1]
		switch p.one("SET CAPACITY", "SET SCHEMA", "SET BRANCHED BY", "SET UNBRANCHED",
			"SET MATERIALIZED STATE LAST BY TIMESTAMP", "DROP MATERIALIZED STATE") {
		case 0:
			c.Op, c.Capacity = ast.RelaySetCapacity, p.uint()
		case 1:
			c.Op, c.Schema = ast.RelaySetSchema, p.ref(toSchema)
		case 2:
			c.Op = ast.RelaySetBranch
			by := p.ref(toBranch)
			c.Branch.By = &by
		case 3:
			c.Op = ast.RelaySetBranch
		case 4:
			c.Op = ast.RelaySetState
		case 5:
			c.Op = ast.RelayDropState
		}
		c.Span = p.since(first)
	})
	return s
}

// nodeOp is one operation: its words, and who reads what follows them.
type nodeOp struct {
	words string
	op    ast.NodeOp
	read  func(*parser, *ast.NodeChange)
}

// The operations that kinds share.
var (
	inputOps = []nodeOp{
		{"ADD FROM", ast.NodeAddInput, func(p *parser, c *ast.NodeChange) {
			c.Name = p.ref(toRelay)
			c.Where = p.where(ClauseInput)
		}},
		{"DROP FROM", ast.NodeDropInput, (*parser).relayOf},
		{"ALTER FROM", ast.NodeSetInputWhere, func(p *parser, c *ast.NodeChange) {
			p.relayOf(c)
			if p.one("SET WHERE", "DROP WHERE") == 1 {
				c.Op = ast.NodeDropInputWhere
				return
			}
			c.Where = p.exprIn(ClauseInput)
		}},
		{"SET COLLECT FOR", ast.NodeSetCollect, func(p *parser, c *ast.NodeChange) { c.Collect = p.collect(p.at - 2) }},
		{"DROP COLLECT", ast.NodeDropCollect, nothing},
	}
	filterOps = []nodeOp{
		{"SET FILTER WHERE", ast.NodeSetFilter, func(p *parser, c *ast.NodeChange) { c.Where = p.exprIn(ClauseFilter) }},
		{"DROP FILTER WHERE", ast.NodeDropFilter, nothing},
	}
	attachOps = []nodeOp{
		{"SET ATTACHED", ast.NodeSetAttachment, func(_ *parser, c *ast.NodeChange) { c.Attachment = ast.Attached }},
		{"SET DETACHED", ast.NodeSetAttachment, func(_ *parser, c *ast.NodeChange) { c.Attachment = ast.Detached }},
	}
	branchOps = []nodeOp{
		{"SET BRANCHED BY", ast.NodeSetBranch, func(p *parser, c *ast.NodeChange) {
			by := p.ref(toBranch)
			c.Branch = ast.BranchUse{By: &by, Span: by.Span}
		}},
		{"SET UNBRANCHED", ast.NodeSetBranch, nothing},
	}
	stateOps = []nodeOp{
		{"ADD MATERIALIZED STATE", ast.NodeAddState, func(p *parser, c *ast.NodeChange) {
			c.State.Relay = p.ref(toState)
			p.statePolicy(&c.State)
		}},
		{"DROP MATERIALIZED STATE", ast.NodeDropState, (*parser).relayOf},
		{"ALTER MATERIALIZED STATE", ast.NodeSetStatePolicy, func(p *parser, c *ast.NodeChange) {
			c.State.Relay = p.ref(toRelay)
			p.expect("SET")
			p.statePolicy(&c.State)
		}},
	}
)

// routeOps are the operations on routes of a form.
func routeOps(form routeForm) []nodeOp {
	route := func(p *parser, c *ast.NodeChange) { p.route(&c.Route, form) }
	return []nodeOp{
		{"ADD ROUTE TO", ast.NodeAddRoute, route},
		{"DROP ROUTE TO", ast.NodeDropRoute, (*parser).relayOf},
		{"REPLACE ROUTE TO", ast.NodeReplaceRoute, route},
	}
}

func maxTimeOp(p *parser, c *ast.NodeChange) { c.Duration = p.duration() }

// The operations of each kind.
var (
	junctionOps     = slices.Concat(inputOps, filterOps, attachOps, branchOps, stateOps)
	deduplicatorOps = slices.Concat(junctionOps, []nodeOp{
		{"SET DEDUPLICATE ON", ast.NodeSetKeys, func(p *parser, c *ast.NodeChange) { p.keys(&c.Keys) }},
		{"SET MAX TIME", ast.NodeSetMaxTime, maxTimeOp},
	})
	reordererOps = slices.Concat(junctionOps, []nodeOp{
		{"SET BY", ast.NodeSetKeys, func(p *parser, c *ast.NodeChange) { p.keys(&c.Keys) }},
		{"SET MAX TIME", ast.NodeSetMaxTime, maxTimeOp},
	})
	reingestorOps = slices.Concat(inputOps, filterOps, attachOps, stateOps)
	generatorOps  = slices.Concat([]nodeOp{
		{"SET MATERIALIZED STATE", ast.NodeSetFeed, func(p *parser, c *ast.NodeChange) { c.Name = p.ref(toState) }},
		{"SET EACH", ast.NodeSetEach, func(p *parser, c *ast.NodeChange) { c.Duration = p.duration() }},
	}, branchOps)
)

func nothing(*parser, *ast.NodeChange) {}

// relayOf takes the relay that an operation names.
func (p *parser) relayOf(c *ast.NodeChange) { c.Name = p.ref(toRelay) }

// alterNode returns the reader of ALTER of a kind: its operations, and those on
// its routes.
func alterNode(kind vocab.EntityKind, form routeForm, ops []nodeOp) func(*parser) ast.Statement {
	if !form.none {
		ops = slices.Concat(ops, routeOps(form))
	}
	return func(p *parser) ast.Statement {
		s := &ast.AlterNode{Alter: p.alter(kind), Kind: kind}
		p.building(s)
		p.operations(func() {
			s.Changes = append(s.Changes, ast.NodeChange{})
			p.nodeChange(&s.Changes[len(s.Changes)-1], ops)
		})
		return s
	}
}

func (p *parser) nodeChange(c *ast.NodeChange, ops []nodeOp) {
	first := p.at
	for _, o := range ops {
		if p.accept(o.words) {
			c.Op = o.op
			o.read(p, c)
			c.Span = p.since(first)
			return
		}
	}
	p.fail()
}
