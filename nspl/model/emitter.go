package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Emitter writes the records of relays to a sink.
type Emitter struct {
	Name         string
	Attached     bool
	Inputs       ast.Inputs
	States       []ast.StateDep
	Sink         ast.Sink
	Body         ast.Body
	Batch        *ast.Batch // nil: one record, one payload
	Flush        ast.Flush
	OnError      ast.MessageError
	GeneralError ast.GeneralError
}

// Kind returns the kind.
func (*Emitter) Kind() vocab.EntityKind { return vocab.EntityEmitter }

// EntityName returns the name.
func (e *Emitter) EntityName() string { return e.Name }

// Refs returns the inputs, the states, what the sink names, the codec and the error relay.
func (e *Emitter) Refs() []Ref {
	refs := appendStates(appendInputs(nil, e.Inputs), e.States)
	for _, r := range []Ref{ref(vocab.EntityClient, e.Sink.Client), ref(vocab.EntitySchema, e.Sink.Schema)} {
		if r.Name != "" {
			refs = append(refs, r)
		}
	}
	if e.Sink.Lake != nil {
		refs = append(refs, ref(vocab.EntityClient, e.Sink.Lake.Catalog))
	}
	if e.Body.Codec != nil {
		refs = append(refs, ref(vocab.EntityCodec, *e.Body.Codec))
	}
	return appendError(refs, e.OnError)
}

func lowerEmitter(c *checker, d *ast.CreateEmitter) *Emitter {
	c.inputs(d.Inputs)
	c.states(d.States)
	e := &Emitter{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Inputs: d.Inputs, States: d.States, Sink: lowerSink(d.Sink), Body: d.Body,
		Batch: d.Batch, Flush: d.Flush, OnError: d.OnError, GeneralError: d.GeneralError,
	}
	c.emitter(e)
	return e
}

// lowerSink fills in what a sink means where nothing was written.
func lowerSink(s ast.Sink) ast.Sink {
	if s.Entity == vocab.SinkIggyTopic && s.Partition == nil {
		s.Partition = &ast.Partition{}
	}
	return s
}

// emitter checks everything behind the inputs.
func (c *checker) emitter(e *Emitter) {
	c.sink(e.Sink, e.Body)
	c.batch(e.Sink, e.Batch)
	c.flush(e.Flush)
	c.messageError(e.OnError)
}

// batch checks BATCH against the sink.
func (c *checker) batch(s ast.Sink, b *ast.Batch) {
	rule := s.Entity.Capabilities().Batch
	switch {
	case b == nil && rule == vocab.BatchRequired:
		c.add(ast.Errorf(ast.CodeInvalid, s.Span, "%s requires BATCH", s.Entity).WithHint("BATCH MAX MESSAGES 500 MAX SIZE 1MiB"))
	case b == nil:
	case rule == vocab.BatchForbidden && s.Entity == vocab.SinkHTTPRequest:
		c.invalid(b.Span, "%s sends one record at a time: BATCH cannot stand here", s.Entity)
	case rule == vocab.BatchForbidden:
		c.invalid(b.Span, "%s is bounded by FLUSH and COMMIT EACH: BATCH cannot stand here", s.Entity)
	default:
		c.bounds(b.MaxMessages, "BATCH MAX MESSAGES", 1, batchMessagesMax)
		c.size(b.MaxSize, "BATCH MAX SIZE")
		switch {
		case s.Entity == vocab.SinkSQSQueue && b.MaxSize.Bytes > sqsBytesMax:
			c.invalid(b.MaxSize.Span, "BATCH MAX SIZE of %s must be at most 256KiB", s.Entity)
		case s.Entity == vocab.SinkClientSchema && b.MaxSize.Bytes > clientBatchBytesMax:
			c.invalid(b.MaxSize.Span, "BATCH MAX SIZE of %s must be at most 32MiB", s.Entity)
		}
	}
}
