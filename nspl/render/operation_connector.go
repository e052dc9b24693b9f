package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// connectorChange writes an operation of a kind that has a connector.
func (w *writer) connectorChange(c *ast.NodeChange) {
	switch c.Op {
	case ast.NodeSetSource:
		w.put("SET FROM ").sourceBody(model.SourceOf(c.Source))
	case ast.NodeSetQuiesce:
		w.put("SET QUIESCE ").quiesceBody(c.Quiesce)
	case ast.NodeSetDecode:
		w.put("SET DECODE USING ").name(c.Name.Text)
	case ast.NodeSetTimestamp:
		w.put("SET ").timestamp(c.Timestamp)
	case ast.NodeDropTimestamp:
		w.put("DROP TIMESTAMP")
	case ast.NodeSetGeneralError:
		w.put("SET GENERAL ERROR ", generalErrors[c.GeneralError])
	case ast.NodeSetSink:
		w.put("SET TO ").sink(model.SinkOf(c.Sink))
		if c.Body != nil && c.Body.Codec != nil {
			w.clause(4, "ENCODE USING ").name(c.Body.Codec.Text)
		} else if c.Body != nil {
			w.clause(4, "WITHOUT BODY")
		}
	case ast.NodeSetMode:
		w.put("SET ").sinkMode(c.Mode)
	case ast.NodeSetClient:
		w.put("SET CLIENT ").name(c.Name.Text)
	case ast.NodeSetEncode:
		w.put("SET ENCODE USING ").name(c.Name.Text)
	case ast.NodeDropEncode:
		w.put("DROP ENCODE")
	case ast.NodeSetBatch:
		w.put("SET BATCH MAX MESSAGES ").uint(c.Batch.MaxMessages.Value).put(" MAX SIZE ", c.Batch.MaxSize.Text)
	case ast.NodeDropBatch:
		w.put("DROP BATCH")
	case ast.NodeSetFlush:
		w.put("SET ").flushBody(c.Flush)
	case ast.NodeSetCommit:
		w.put("SET ").commitEach(c.Commit)
	}
}
