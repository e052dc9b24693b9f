package render

import (
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) ingestor(i *model.Ingestor) {
	w.put(i.Source.Entity.String(), " INGESTOR ").name(i.Name)
	w.source(i.Source)
	w.clause(2, "DECODE USING ").name(i.Decode.Text)
	if t := i.Timestamp; t != nil && t.Now {
		w.clause(2, "TIMESTAMP NOW")
	} else if t != nil {
		w.clause(2, "TIMESTAMP AT ").name(t.At.Text)
	}
	w.filter(i.Filter)
	w.routes(i.Routes)
	w.generalError(i.GeneralError)
}

func (w *writer) source(s model.Source) {
	w.clause(2, "FROM ")
	switch s.Entity {
	case vocab.SourceHTTPEndpoint:
		w.put("HTTP ENDPOINT ").name(s.Endpoint.Text)
	case vocab.SourceRandomSequence:
		w.put("RANDOM SEED ").uint(s.Seed)
	default:
		can := s.Entity.Capabilities()
		w.put(can.Client.String(), " ").name(s.Client.Text).externalNames(s.Names)
		if can.InstancesMax > 1 {
			w.put(" INSTANCES ").uint(s.Instances)
		}
	}
	if c := s.Cursor; c != nil {
		w.put(" MAX ROWS ").uint(c.MaxRows.Value).put(" EVERY ", c.Every.Text)
	}
	w.sourceMode(s.Mode)
	w.quiesce(s.Quiesce)
}
