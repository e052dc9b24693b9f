package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) emitter(e *model.Emitter) {
	w.put(attachment(e.Attached), e.Sink.Entity.String(), " EMITTER ").name(e.Name)
	w.inputs(e.Inputs)
	w.sink(e.Sink)
	if e.Body.Codec != nil {
		w.clause(4, "ENCODE USING ").name(e.Body.Codec.Text)
	} else {
		w.clause(4, "WITHOUT BODY")
	}
	w.construction(e.Body.Construction, 2)
	w.invoke(e.Body.Invoke)
	if b := e.Batch; b != nil {
		w.clause(2, "BATCH MAX MESSAGES ").uint(b.MaxMessages.Value).put(" MAX SIZE ", b.MaxSize.Text)
	}
	w.flush(e.Flush, 2)
	w.messageError(e.OnError, 2)
	w.generalError(e.GeneralError)
}

func (w *writer) sink(s ast.Sink) {
	w.clause(2, "TO ")
	switch s.Entity {
	case vocab.SinkHTTPRequest:
		w.put("HTTP ").name(s.Client.Text).put(" METHOD ").expr(s.Method).put(" PATH ").expr(s.Path)
	case vocab.SinkRedisChannel:
		w.put("REDIS PUBSUB ").name(s.Client.Text).externalNames(s.Names)
	default:
		w.put(s.Entity.Capabilities().Client.String(), " ").name(s.Client.Text).externalNames(s.Names)
	}
	w.clause(4).sinkMode(s.Mode)
}

func (w *writer) invoke(list []ast.HeaderWrite) {
	for i, h := range list {
		if i == 0 {
			w.clause(2, "INVOKE ")
		} else {
			w.put(", ")
		}
		w.put("write_header(").expr(h.Name).put(", ").expr(h.Value).put(")")
	}
}
