package model

import (
	"fmt"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// SourceOf returns what a source means, whether or not it is sound.
func SourceOf(s ast.Source) Source { return lowerSource(&checker{}, s) }

// SinkOf returns what a sink means.
func SinkOf(s ast.Sink) ast.Sink { return lowerSink(s) }

// alterIngestor applies an operation that ingestors have.
func (c *checker) alterIngestor(i *Ingestor, change *ast.NodeChange) {
	p := partsOf(i)
	switch change.Op {
	case ast.NodeSetSource:
		i.Source = lowerSource(c, change.Source)
		if i.Source.Entity.Capabilities().Payload == vocab.NativeArrow {
			i.Decode = ast.Name{} // clients send records as they are
		}
	case ast.NodeSetQuiesce:
		c.alterQuiesce(i, change)
	case ast.NodeSetDecode:
		i.Decode = change.Name
	case ast.NodeSetTimestamp:
		i.Timestamp = change.Timestamp
	case ast.NodeDropTimestamp:
		if i.Timestamp == nil {
			c.absent(p, change, "TIMESTAMP")
		}
		i.Timestamp = nil
	case ast.NodeSetGeneralError:
		i.GeneralError = change.GeneralError
	}
}

// alterQuiesce exchanges the quiesce body of a source for another that it offers.
func (c *checker) alterQuiesce(i *Ingestor, change *ast.NodeChange) {
	q, s := change.Quiesce, &i.Source
	switch {
	case !s.Entity.Capabilities().CanQuiesce(q.Body):
		c.add(ast.Errorf(ast.CodeInvalid, q.Span, "%s does not offer this QUIESCE", s.Entity).
			WithHint("it offers %s", joinWords(s.Entity.Capabilities().Quiesce)))
	case s.MQTT != nil && q.Body == vocab.QuiesceSuspend && (!s.MQTT.Persistent || s.MQTT.QoS != 1):
		c.invalid(q.Span, "QUIESCE SUSPEND of %s needs SESSION PERSISTENT QOS 1", s.Entity)
	case q.Body == vocab.QuiesceBuffer, q.Body == vocab.QuiesceEndpointBuffer:
		c.size(q.MaxSize, "BUFFER MAX SIZE")
	case q.Body == vocab.QuiesceReject:
		c.positive(q.RetryAfter, "REJECT RETRY AFTER")
	}
	s.Quiesce = q
}

// decodes checks that an ingestor has a codec exactly where its source needs one.
func (c *checker) decodes(i *Ingestor, span vocab.Span) {
	switch native := i.Source.Entity.Capabilities().Payload == vocab.NativeArrow; {
	case native && i.Decode.Text != "":
		c.invalid(i.Decode.Span, "%s takes records as they are, without a codec", i.Source.Entity)
	case !native && i.Decode.Text == "":
		c.add(ast.Errorf(ast.CodeInvalid, span, "%s needs a codec", i.Source.Entity).WithHint("SET DECODE USING codec"))
	}
}

// alterEmitter applies an operation that emitters have.
func (c *checker) alterEmitter(e *Emitter, change *ast.NodeChange) {
	p, can := partsOf(e), e.Sink.Entity.Capabilities()
	switch change.Op {
	case ast.NodeSetSink:
		e.Sink = lowerSink(change.Sink)
		if change.Body != nil {
			e.Body.Codec = change.Body.Codec
		}
	case ast.NodeSetMode:
		if !can.Allows(change.Mode.Kind) {
			c.add(ast.Errorf(ast.CodeInvalid, change.Mode.Span, "%s does not have this MODE", e.Sink.Entity).
				WithHint("it has MODE %s", joinWords(can.Modes)))
			return
		}
		e.Sink.Mode = change.Mode
	case ast.NodeSetClient:
		if can.Subject == vocab.SubjectSchema {
			c.invalid(change.Span, "%s has no client", e.Sink.Entity)
			return
		}
		e.Sink.Client = change.Name
	case ast.NodeSetEncode:
		codec := change.Name
		e.Body.Codec = &codec
	case ast.NodeDropEncode:
		switch {
		case can.Codec == vocab.CodecOrWithoutBody:
			c.add(ast.Errorf(ast.CodeInvalid, change.Span, "DROP ENCODE cannot stand for %s", e.Sink.Entity).
				WithHint("SET TO HTTP … WITHOUT BODY sends requests without one"))
		case e.Body.Codec == nil:
			c.absent(p, change, "codec")
		}
		e.Body.Codec = nil
	case ast.NodeSetBatch:
		batch := change.Batch
		e.Batch = &batch
	case ast.NodeDropBatch:
		if e.Batch == nil {
			c.absent(p, change, "BATCH")
		}
		e.Batch = nil
	case ast.NodeSetFlush:
		e.Flush = change.Flush
	case ast.NodeSetCommit:
		if e.Sink.Lake == nil {
			c.invalid(change.Span, "%s has no COMMIT EACH", e.Sink.Entity)
			return
		}
		e.Sink.Lake.Commit = change.Commit
	}
}

// altered checks an emitter after all operations: what it kept has to fit the sink
// it has now.
func (c *checker) altered(e *Emitter, span vocab.Span) {
	k := e.Body.Construction
	builds := k.Inherit != nil || len(k.Set) > 0
	switch rule := e.Sink.Entity.Capabilities().Codec; {
	case (rule == vocab.CodecDirect || rule == vocab.CodecNative) && e.Body.Codec != nil:
		c.add(ast.Errorf(ast.CodeInvalid, e.Body.Codec.Span, "%s takes no codec", e.Sink.Entity).WithHint("DROP ENCODE"))
	case rule == vocab.CodecDirect && builds, rule == vocab.CodecOrWithoutBody && e.Body.Codec == nil && builds:
		c.invalid(span, "%s builds no record: the INHERIT and SET of EMITTER '%s' cannot stand", e.Sink.Entity, e.Name)
	case rule != vocab.CodecDirect && rule != vocab.CodecNative && rule != vocab.CodecOrWithoutBody && e.Body.Codec == nil:
		c.add(ast.Errorf(ast.CodeInvalid, span, "%s needs a codec", e.Sink.Entity).WithHint("SET ENCODE USING codec"))
	}
	c.emitter(e)
}

// joinWords lists what an entity offers.
func joinWords[T fmt.Stringer](list []T) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].String()
	}
	return strings.Join(words, ", ")
}
