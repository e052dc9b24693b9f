package parse

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// The operations of the kinds that have a connector.
var (
	ingestorOps = slices.Concat([]nodeOp{
		{"SET FROM", ast.NodeSetSource, func(p *parser, c *ast.NodeChange) { p.source(&c.Source) }},
		{"SET QUIESCE", ast.NodeSetQuiesce, func(p *parser, c *ast.NodeChange) { p.anyQuiesce(&c.Quiesce) }},
		{"SET DECODE USING", ast.NodeSetDecode, func(p *parser, c *ast.NodeChange) { c.Name = p.ref(toDecoder) }},
		{"SET TIMESTAMP", ast.NodeSetTimestamp, func(p *parser, c *ast.NodeChange) { c.Timestamp = p.timestamp() }},
		{"DROP TIMESTAMP", ast.NodeDropTimestamp, nothing},
	}, filterOps, []nodeOp{
		{"SET GENERAL ERROR", ast.NodeSetGeneralError, func(p *parser, c *ast.NodeChange) {
			c.GeneralError = []ast.GeneralError{ast.GeneralIgnore, ast.GeneralLog}[p.one("IGNORE", "LOG")]
		}},
	})
	emitterOps = slices.Concat(inputOps, attachOps, []nodeOp{
		{"SET TO", ast.NodeSetSink, func(p *parser, c *ast.NodeChange) {
			p.sink(&c.Sink)
			if c.Sink.Entity.Capabilities().Codec == vocab.CodecOrWithoutBody {
				c.Body = &ast.Body{}
				if p.one("ENCODE USING", "WITHOUT BODY") == 0 {
					codec := p.ref(toEncoder)
					c.Body.Codec = &codec
				}
			}
		}},
		{"SET MODE", ast.NodeSetMode, func(p *parser, c *ast.NodeChange) { p.anySinkMode(&c.Mode) }},
		{"SET CLIENT", ast.NodeSetClient, func(p *parser, c *ast.NodeChange) { c.Name = p.ref(toAny(vocab.EntityClient)) }},
		{"SET ENCODE USING", ast.NodeSetEncode, func(p *parser, c *ast.NodeChange) { c.Name = p.ref(toEncoder) }},
		{"DROP ENCODE", ast.NodeDropEncode, nothing},
		{"SET BATCH MAX MESSAGES", ast.NodeSetBatch, func(p *parser, c *ast.NodeChange) { p.batch(&c.Batch, p.at-3) }},
		{"DROP BATCH", ast.NodeDropBatch, nothing},
		{"SET FLUSH EACH", ast.NodeSetFlush, func(p *parser, c *ast.NodeChange) { c.Flush = p.flushEach(p.at - 2) }},
		{"SET FLUSH IMMEDIATE", ast.NodeSetFlush, func(p *parser, c *ast.NodeChange) {
			c.Flush = ast.Flush{Immediate: true, Span: p.since(p.at - 2)}
		}},
		{"SET COMMIT EACH", ast.NodeSetCommit, func(p *parser, c *ast.NodeChange) { p.commitEach(&c.Commit, p.at-2) }},
	})
)

// anyQuiesce takes the quiesce body of a source that the statement does not show.
func (p *parser) anyQuiesce(q *ast.Quiesce) {
	first := p.at
	switch p.one("SUSPEND", "BUFFER MAX SIZE", "DROP", "REJECT RETRY AFTER") {
	case 0:
		q.Body = vocab.QuiesceSuspend
	case 1:
		q.Body, q.MaxSize = vocab.QuiesceEndpointBuffer, p.size()
		if p.accept("ON OVERFLOW") {
			q.Body = vocab.QuiesceBuffer
			q.DropOldest = p.one("DROP OLDEST", "DROP NEWEST") == 0
		}
	case 2:
		q.Body = vocab.QuiesceDrop
	case 3:
		q.Body, q.RetryAfter = vocab.QuiesceReject, p.duration()
	}
	q.Span = p.since(first)
}

// anySinkMode takes the mode of a sink that the statement does not show.
func (p *parser) anySinkMode(m *ast.SinkMode) {
	first := p.at
	switch {
	case p.noAck():
		m.Kind = vocab.SinkNoAck
	case p.accept("JETSTREAM ACK"):
		m.Kind, m.Window = vocab.SinkJetStreamAck, p.ackWindow()
	case p.accept("ACK SEQUENTIAL"):
		m.Kind = vocab.SinkAckWindow
	case p.accept("ACK PARALLEL MAX"):
		n := p.uint()
		m.Kind, m.Window.Max = vocab.SinkAckWindow, &n
	case p.accept("ACK"):
		m.Kind = vocab.SinkAckRequest
	case p.accept("QOS"):
		m.Kind = vocab.SinkQoS0 + vocab.SinkModeKind(p.qos("0", "1", "2").Value)
		if m.Kind.Windowed() {
			p.expect("ACK")
			m.Window = p.ackWindow()
		}
	default:
		m.Kind = []vocab.SinkModeKind{vocab.SinkSingle, vocab.SinkBatched}[p.one("SINGLE", "BATCH")]
	}
	if m.Kind.Windowed() {
		p.expect("ACK TIMEOUT")
		m.AckTimeout = p.duration()
	}
	m.Retry = p.retry()
	m.Span = p.since(first)
}
