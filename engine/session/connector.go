package session

import (
	"strings"

	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// fields adds what is there: an empty text adds nothing.
func fields(m *document.Map, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m.Set(pairs[i], document.Text(pairs[i+1]))
		}
	}
}

func externalFields(m *document.Map, names ast.ExternalNames) {
	for _, n := range names.Vocab() {
		fields(m, n.Label(), n.Text)
	}
}

// sourceFields adds what names the outside of an ingestor.
func sourceFields(m *document.Map, in *model.Ingestor) {
	s := in.Source
	fields(m, "client", s.Client.Text, "endpoint", s.Endpoint.Text, "schema", s.Schema.Text)
	externalFields(m, s.Names)
	if s.Entity == vocab.SourceKafkaTopic && s.Names.Get("OFFSET BY CONSUMER GROUP") == "" {
		fields(m, "offset_by", "DOMAIN")
	}
	if q := s.MQTT; q != nil {
		session := "CLEAN"
		if q.Persistent {
			session = "PERSISTENT"
		}
		m.Set("session", document.Text(session)).Set("qos", document.Int(int(q.QoS)))
	}
	if s.Every != nil {
		fields(m, "every", s.Every.Text)
	}
	if s.Cursor != nil {
		m.Set("max_rows", document.Uint(s.Cursor.MaxRows.Value))
		fields(m, "every", s.Cursor.Every.Text)
	}
}

// sinkFields adds what names the outside of an emitter, and how it writes there.
func sinkFields(m *document.Map, s ast.Sink) {
	if s.Backend.Type != 0 {
		fields(m, "on", s.Backend.Type.String())
	}
	fields(m, "client", s.Client.Text, "schema", s.Schema.Text)
	externalFields(m, s.Names)
	if s.Method != nil {
		fields(m, "method", render.Expr(s.Method), "path", render.Expr(s.Path))
	}
	if g := s.Group; g != nil && g.By != nil {
		fields(m, "fifo_group", render.Expr(g.By))
	} else if g != nil {
		fields(m, "fifo_group", "FROM BRANCH")
	}
	if q := s.Partition; q != nil {
		switch q.Rule {
		case ast.PartitionBalanced:
			fields(m, "partition", "BALANCED")
		case ast.PartitionByBranch:
			fields(m, "partition", "BY BRANCH")
		case ast.PartitionNumber:
			m.Set("partition", document.Uint(q.Number.Value))
		}
	}
	if c := s.Conflict; c != nil {
		fields(m, "conflict", conflictText(c))
	}
	if l := s.Lake; l != nil {
		fields(m, "location", l.Location.Text, "catalog", l.Catalog.Text, "commit_each", l.Commit.Each.Text, "max_size", l.Commit.MaxSize.Text)
	}
	switch s.Entity {
	case vocab.SinkOTELLogs:
		fields(m, "signal", "LOGS")
	case vocab.SinkOTELTraces:
		fields(m, "signal", "TRACES")
	case vocab.SinkOTELMetric:
		fields(m, "metric", s.Metric.Name.Text, "unit", s.Metric.Unit.Text, "instrument", s.Metric.Instrument.String())
	}
}

// conflictText is the clause behind ON CONFLICT.
func conflictText(c *ast.Conflict) string {
	text := "DO NOTHING"
	if c.Update {
		text = "DO UPDATE"
	}
	if c.Target == nil {
		return text
	}
	names := make([]string, len(c.Target))
	for i, t := range c.Target {
		names[i] = t.Text
	}
	return "(" + strings.Join(names, ", ") + ") " + text
}

// bodyText says what an emitter sends.
func bodyText(x *model.Emitter) string {
	switch x.Sink.Entity.Capabilities().Codec {
	case vocab.CodecNative:
		return "native Arrow"
	case vocab.CodecDirect:
		return "direct"
	}
	if x.Body.Codec == nil {
		return "without body"
	}
	return "codec " + x.Body.Codec.Text
}
