package render_test

import (
	"math"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

func (g generator) alterRelay() *ast.AlterRelay {
	s := &ast.AlterRelay{Alter: ast.Alter{Name: g.name()}}
	for range 1 + g.int(2) {
		c := ast.RelayChange{Op: ast.RelayOp(g.int(int(ast.RelayDropState)))}
		switch c.Op {
		case ast.RelaySetCapacity:
			c.Capacity = g.uint(math.MaxUint64)
		case ast.RelaySetSchema:
			c.Schema = g.name()
		case ast.RelaySetBranch:
			c.Branch = g.branchUse()
		}
		s.Changes = append(s.Changes, c)
	}
	return s
}

// The operations of each kind, those of a connector's own clauses apart.
var (
	inputOps = []ast.NodeOp{
		ast.NodeAddInput, ast.NodeDropInput, ast.NodeSetInputWhere, ast.NodeDropInputWhere, ast.NodeSetCollect, ast.NodeDropCollect,
	}
	stateOps  = []ast.NodeOp{ast.NodeAddState, ast.NodeDropState, ast.NodeSetStatePolicy}
	routeOps  = []ast.NodeOp{ast.NodeAddRoute, ast.NodeDropRoute, ast.NodeReplaceRoute}
	filterOps = []ast.NodeOp{ast.NodeSetFilter, ast.NodeDropFilter}
)

var alterForms = []struct {
	kind vocab.EntityKind
	form routeForm
	ops  [][]ast.NodeOp
}{
	{vocab.EntityJunction, transforming, [][]ast.NodeOp{inputOps, stateOps, routeOps, filterOps, {ast.NodeSetAttachment, ast.NodeSetBranch}}},
	{vocab.EntityDeduplicator, transforming, [][]ast.NodeOp{inputOps, routeOps, {ast.NodeSetKeys, ast.NodeSetMaxTime}}},
	{vocab.EntityReorderer, transforming, [][]ast.NodeOp{stateOps, routeOps, {ast.NodeSetKeys, ast.NodeSetMaxTime}}},
	{vocab.EntityReingestor, ingesting, [][]ast.NodeOp{inputOps, stateOps, routeOps, filterOps, {ast.NodeSetAttachment}}},
	{vocab.EntityGenerator, setOnly, [][]ast.NodeOp{routeOps, {ast.NodeSetFeed, ast.NodeSetEach, ast.NodeSetBranch}}},
	{vocab.EntityIngestor, ingesting, [][]ast.NodeOp{routeOps, filterOps, {
		ast.NodeSetSource, ast.NodeSetQuiesce, ast.NodeSetDecode, ast.NodeSetTimestamp, ast.NodeDropTimestamp, ast.NodeSetGeneralError,
	}}},
	{vocab.EntityEmitter, routeForm{}, [][]ast.NodeOp{inputOps, {
		ast.NodeSetAttachment, ast.NodeSetSink, ast.NodeSetMode, ast.NodeSetClient, ast.NodeSetEncode, ast.NodeDropEncode,
		ast.NodeSetBatch, ast.NodeDropBatch, ast.NodeSetFlush, ast.NodeSetCommit,
	}}},
}

func (g generator) alterNode() *ast.AlterNode {
	form := rapid.SampledFrom(alterForms).Draw(g.T, "kind")
	s := &ast.AlterNode{Alter: ast.Alter{Name: g.name()}, Kind: form.kind}
	for range 1 + g.int(3) {
		ops := rapid.SampledFrom(form.ops).Draw(g.T, "group")
		s.Changes = append(s.Changes, g.nodeChange(rapid.SampledFrom(ops).Draw(g.T, "operation"), form.form))
	}
	return s
}

func (g generator) nodeChange(op ast.NodeOp, form routeForm) ast.NodeChange {
	c := ast.NodeChange{Op: op}
	switch op {
	case ast.NodeAddInput:
		c.Name, c.Where = g.name(), g.maybeExpr()
	case ast.NodeSetInputWhere:
		c.Name, c.Where = g.name(), g.expr(2)
	case ast.NodeDropInput, ast.NodeDropInputWhere, ast.NodeDropState, ast.NodeDropRoute, ast.NodeSetFeed, ast.NodeSetDecode,
		ast.NodeSetClient, ast.NodeSetEncode:
		c.Name = g.name()
	case ast.NodeSetCollect:
		c.Collect = &ast.Collect{For: g.duration()}
		if g.bool() {
			s := g.size()
			c.Collect.MaxBatchSize = &s
		}
	case ast.NodeSetSource:
		c.Source = written(g.source())
	case ast.NodeSetFilter:
		c.Where = g.expr(2)
	case ast.NodeSetAttachment:
		c.Attachment = ast.Attached + ast.Attachment(g.int(1))
	case ast.NodeSetBranch:
		c.Branch = g.branchUse()
	case ast.NodeAddState, ast.NodeSetStatePolicy:
		c.State = ast.StateDep{Relay: g.name(), Policy: ast.StatePolicy(g.int(int(ast.StateDefault)))}
		if c.State.Policy == ast.StateDefault {
			c.State.Default = g.assigns(ast.ScopeBare)
		}
	case ast.NodeAddRoute, ast.NodeReplaceRoute:
		c.Route = g.routes(form)[0]
	case ast.NodeSetKeys:
		c.Keys = g.keys()
	case ast.NodeSetMaxTime, ast.NodeSetEach:
		c.Duration = g.duration()
	case ast.NodeSetQuiesce:
		c.Quiesce = g.quiesce(vocab.SourceEntities()[g.int(len(vocab.SourceEntities())-1)].Capabilities())
	case ast.NodeSetTimestamp:
		c.Timestamp = &ast.Timestamp{Now: g.bool()}
		if !c.Timestamp.Now {
			c.Timestamp.At = g.name()
		}
	case ast.NodeSetGeneralError:
		c.GeneralError = ast.GeneralError(g.int(1))
	default:
		g.sinkChange(&c)
	}
	return c
}

func (g generator) sinkChange(c *ast.NodeChange) {
	switch c.Op {
	case ast.NodeSetSink:
		c.Sink = g.emitter().Sink
		if c.Sink.Entity.Capabilities().Codec == vocab.CodecOrWithoutBody {
			c.Body = &ast.Body{}
			if codec := g.name(); g.bool() {
				c.Body.Codec = &codec
			}
		}
	case ast.NodeSetMode:
		c.Mode = ast.SinkMode{Kind: vocab.SinkModeKind(g.int(int(vocab.SinkBatched))), Retry: g.retry()}
		if c.Mode.Kind.Windowed() {
			c.Mode.AckTimeout = g.duration()
			if n := g.uint(1 << 20); g.bool() {
				c.Mode.Window.Max = &n
			}
		}
	case ast.NodeSetBatch:
		c.Batch = ast.Batch{MaxMessages: g.uint(65_536), MaxSize: g.size()}
	case ast.NodeSetFlush:
		c.Flush = g.flush()
	case ast.NodeSetCommit:
		c.Commit = ast.CommitEach{Each: g.duration(), MaxSize: g.size()}
	}
}
