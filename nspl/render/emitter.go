package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) emitter(e *model.Emitter) {
	w.put(attachment(e.Attached), e.Sink.Entity.String(), " EMITTER ").name(e.Name)
	w.inputs(e.Inputs)
	w.states(e.States)
	w.clause(2, "TO ").sink(e.Sink)
	switch rule := e.Sink.Entity.Capabilities().Codec; {
	case e.Body.Codec != nil:
		w.clause(4, "ENCODE USING ").name(e.Body.Codec.Text)
	case rule == vocab.CodecOrWithoutBody:
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

// sink writes what follows TO.
func (w *writer) sink(s ast.Sink) {
	can := s.Entity.Capabilities()
	w.put(can.Lead, " ")
	switch {
	case can.Subject == vocab.SubjectSchema:
		w.name(s.Schema.Text)
	case s.Backend.Type != 0:
		w.put(s.Backend.Type.String(), " ").name(s.Client.Text)
	default:
		w.name(s.Client.Text)
	}
	w.externalNames(s.Names, can.Names)
	switch s.Entity {
	case vocab.SinkHTTPRequest:
		w.put(" METHOD ").expr(s.Method).put(" PATH ").expr(s.Path)
	case vocab.SinkOTELLogs:
		w.put(" LOGS")
	case vocab.SinkOTELTraces:
		w.put(" TRACES")
	case vocab.SinkOTELMetric:
		w.metric(s.Metric)
	}
	w.sinkClauses(s)
	w.clause(4).sinkMode(s.Mode)
}

func (w *writer) metric(m *ast.Metric) {
	w.put(" METRIC ").string(m.Name.Text).put(" UNIT ").string(m.Unit.Text)
	if m.Description != nil {
		w.put(" DESCRIPTION ").string(m.Description.Text)
	}
	w.put(" ", m.Instrument.String())
	if m.Monotonic {
		w.put(" MONOTONIC")
	}
	if m.Instrument != vocab.Gauge {
		w.put([]string{" DELTA", " CUMULATIVE"}[index(m.Cumulative)])
	}
}

// sinkClauses writes the clauses between the names of a sink and its mode, each on
// its line.
func (w *writer) sinkClauses(s ast.Sink) {
	if g := s.Group; g != nil && g.By == nil {
		w.clause(4, "FIFO GROUP FROM BRANCH")
	} else if g != nil {
		w.clause(4, "FIFO GROUP ").expr(g.By)
	}
	if p := s.Partition; p != nil {
		switch p.Rule {
		case ast.PartitionBalanced:
			w.clause(4, "PARTITION BALANCED")
		case ast.PartitionByBranch:
			w.clause(4, "PARTITION BY BRANCH")
		case ast.PartitionNumber:
			w.clause(4, "PARTITION ").uint(p.Number.Value)
		}
	}
	w.mappings("VALUES", s.Values)
	if c := s.Conflict; c != nil {
		w.clause(4, "ON CONFLICT ")
		if c.Target != nil {
			w.externals(c.Target).put(" ")
		}
		w.put([]string{"DO NOTHING", "DO UPDATE"}[index(c.Update)])
	}
	w.mappings("ATTRIBUTES", s.Attributes)
	w.mappings("RESOURCE", s.Resource)
	if i := s.Scope; i != nil {
		w.clause(4, "SCOPE ").string(i.Name.Text)
		if i.Version != nil {
			w.put(" VERSION ").string(i.Version.Text)
		}
	}
	if l := s.Lake; l != nil {
		w.clause(4, "LOCATION ").string(l.Location.Text)
		w.clause(4, "CATALOG ").name(l.Catalog.Text)
		w.clause(4).commitEach(l.Commit)
	}
}

func (w *writer) commitEach(c ast.CommitEach) {
	w.put("COMMIT EACH ", c.Each.Text, " MAX SIZE ", c.MaxSize.Text)
}

// mappings writes a block with one entry per line.
func (w *writer) mappings(clause string, list []ast.Mapping) {
	for i, m := range list {
		if i == 0 {
			w.clause(4, clause, " {")
		} else {
			w.put(",")
		}
		w.clause(6).string(m.Key.Text).put(" = ").expr(m.Value)
	}
	if len(list) > 0 {
		w.clause(4, "}")
	}
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
