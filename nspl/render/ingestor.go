package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (w *writer) ingestor(i *model.Ingestor) {
	if i.Source.ByEndpoint {
		w.put("INGESTOR ").name(i.Name)
	} else {
		w.put(i.Source.Entity.String(), " INGESTOR ").name(i.Name)
	}
	w.source(i.Source)
	if i.Decode.Text != "" {
		w.clause(2, "DECODE USING ").name(i.Decode.Text)
	}
	if i.Timestamp != nil {
		w.clause(2).timestamp(i.Timestamp)
	}
	w.filter(i.Filter)
	w.routes(i.Routes)
	w.generalError(i.GeneralError)
}

func (w *writer) timestamp(t *ast.Timestamp) {
	if t.Now {
		w.put("TIMESTAMP NOW")
		return
	}
	w.put("TIMESTAMP AT ").name(t.At.Text)
}

// source writes FROM on a line of its own.
func (w *writer) source(s model.Source) {
	w.clause(2, "FROM ").sourceBody(s)
}

// sourceBody writes what follows FROM.
func (w *writer) sourceBody(s model.Source) {
	can := s.Entity.Capabilities()
	switch {
	case s.ByEndpoint:
		w.put("ENDPOINT ").name(s.Endpoint.Text)
	case can.Subject == vocab.SubjectEndpoint:
		w.put(can.Lead, " ").name(s.Endpoint.Text)
	case can.Subject == vocab.SubjectSchema:
		w.put(can.Lead, " ").name(s.Schema.Text)
	case s.Entity == vocab.SourceHTTPPoll && (s.Client.Text == "endpoint" || s.Client.Text == "push"):
		w.put(can.Lead, " `", s.Client.Text, "`") // the bare word is another source
	case can.Subject == vocab.SubjectClient:
		w.put(can.Lead, " ").name(s.Client.Text)
	default:
		w.put(can.Lead)
	}
	w.externalNames(s.Names, can.Names)
	w.sourceClauses(s)
	if can.InstancesMax > 1 {
		w.put(" INSTANCES ").uint(s.Instances)
	}
	if m := s.MQTT; m != nil {
		w.put(" SESSION ", []string{"CLEAN", "PERSISTENT"}[index(m.Persistent)], " QOS ").uint(uint64(m.QoS))
	}
	if s.Every != nil {
		w.put(" EVERY ", s.Every.Text)
	}
	if c := s.Cursor; c != nil {
		w.put(" MAX ROWS ").uint(c.MaxRows.Value).put(" EVERY ", c.Every.Text)
	}
	if can.Pace != vocab.Polled {
		w.sourceMode(s.Mode, can)
	}
	w.quiesce(s.Quiesce)
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sourceClauses writes the clauses that one entity has.
func (w *writer) sourceClauses(s model.Source) {
	switch s.Entity {
	case vocab.SourceRandomSequence:
		w.put(" ").uint(s.Seed)
	case vocab.SourcePostgresTable:
		w.postgresRead(s.Postgres)
	case vocab.SourceElasticsearchIndex:
		if s.Query != nil {
			w.put(" QUERY ").string(s.Query.Text)
		}
	case vocab.SourceInfluxDBMeasurement:
		w.put(" RANGE FROM ").string(s.Range.From.Text).put(" STEP ", s.Range.Step.Text, " LAG ", s.Range.Lag.Text)
	case vocab.SourceHTTPPush:
		w.put(" MAX PENDING ").uint(s.Push.Pending.Value).put(" MAX SIZE ", s.Push.Size.Text)
	case vocab.SourceIggyTopic:
		w.iggyStart(s.Iggy)
	}
}

func (w *writer) postgresRead(r *ast.PostgresRead) {
	if r.Columns != nil {
		w.put(" COLUMNS ").externals(r.Columns)
	}
	switch r.Action {
	case ast.ReadByCursor:
		w.put(" READ BY CURSOR ").external(r.Column.Text)
		if r.After != nil {
			w.put(" AFTER ").string(r.After.Text)
		}
	case ast.ReadAndDelete:
		w.put(" READ AND DELETE")
	case ast.ReadAndMark:
		w.put(" READ AND MARK ").external(r.Column.Text)
	}
	if r.Key != nil {
		w.put(" KEY ").external(r.Key.Text)
	}
}

// externals writes a list of external names in parentheses.
func (w *writer) externals(list []ast.Text) *writer {
	for i, n := range list {
		w.put([]string{"(", ", "}[min(i, 1)]).external(n.Text)
	}
	return w.put(")")
}

func (w *writer) iggyStart(s *ast.IggyStart) {
	for i, n := range s.Partitions {
		w.put([]string{" PARTITIONS (", ", "}[min(i, 1)]).uint(n.Value)
	}
	if s.Partitions != nil {
		w.put(")")
	}
	switch s.Origin {
	case ast.IggyFirst:
		w.put(" START FIRST")
	case ast.IggyLast:
		w.put(" START LAST")
	case ast.IggyOffset:
		w.put(" START OFFSET ").uint(s.Offset.Value)
	case ast.IggyAt:
		w.put(" START AT ").string(s.At.Text)
	}
	if s.Store != nil {
		w.put(" STORE OFFSET AS ").string(s.Store.Text)
	}
}
