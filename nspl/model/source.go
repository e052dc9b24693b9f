package model

import (
	"strconv"

	"plexus/nspl/ast"
	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

func lowerSource(c *checker, s ast.Source) Source {
	can := s.Entity.Capabilities()
	m := Source{
		Entity: s.Entity, ByEndpoint: s.ByEndpoint, Client: s.Client, Endpoint: s.Endpoint, Schema: s.Schema,
		Names: s.Names, Seed: s.Seed.Value, Instances: 1,
		Postgres: s.Postgres, Query: s.Query, Range: s.Range, Push: s.Push, Iggy: s.Iggy,
		Every: s.Every, Cursor: s.Cursor, Mode: s.Mode, Quiesce: s.Quiesce,
	}
	c.externalNames(s.Names, can.Names)
	if s.Instances != nil {
		c.bounds(*s.Instances, "INSTANCES", 1, can.InstancesMax)
		m.Instances = s.Instances.Value
	}
	if s.Every != nil {
		c.positive(*s.Every, "EVERY")
	}
	if s.Cursor != nil {
		c.bounds(s.Cursor.MaxRows, "MAX ROWS", 1, cursorRowsMax)
		c.positive(s.Cursor.Every, "EVERY")
	}
	c.sourceClauses(s)
	c.sourceMode(s)
	if s.Entity == vocab.SourceMQTTTopic {
		m.MQTT = c.mqtt(s)
	}
	switch s.Quiesce.Body {
	case vocab.QuiesceBuffer, vocab.QuiesceEndpointBuffer:
		c.size(s.Quiesce.MaxSize, "BUFFER MAX SIZE")
	case vocab.QuiesceReject:
		c.positive(s.Quiesce.RetryAfter, "REJECT RETRY AFTER")
	}
	return m
}

func (c *checker) sourceMode(s ast.Source) {
	mode := s.Mode
	switch mode.Kind {
	case vocab.AckParallel:
		c.window(&mode.Max)
		if s.Entity.Capabilities().Payload != vocab.NativeArrow {
			c.positive(mode.BatchTimeout, "BATCH TIMEOUT")
		}
	case vocab.AckSequential:
	default:
		return
	}
	c.atLeast(mode.AckTimeout, "ACK TIMEOUT", ackTimeoutMin)
	if s.Cursor != nil && mode.AckTimeout.Nanos > uint64(cursorAckTimeoutMax) {
		c.invalid(mode.AckTimeout.Span, "ACK TIMEOUT of %s must be at most %v", s.Entity, cursorAckTimeoutMax)
	}
	c.retry(mode.Retry)
}

// mqtt fills in the session and checks what needs a lasting one. It may be
// written as CLEAN or QOS 0, or left out.
func (c *checker) mqtt(s ast.Source) *vocab.MQTTSession {
	session, span := &vocab.MQTTSession{}, s.Mode.Span
	if s.MQTT != nil {
		span = s.MQTT.Span
		session.Persistent = s.MQTT.Persistent != nil && *s.MQTT.Persistent
		if s.MQTT.QoS != nil {
			session.QoS = uint8(s.MQTT.QoS.Value)
		}
	}
	lasting := session.Persistent && session.QoS == 1
	if ack := s.Mode.Vocab().Acknowledged; ack && !lasting {
		c.invalid(span, "MODE %s of MQTT TOPIC requires SESSION PERSISTENT QOS 1", s.Mode.Kind)
	} else if s.Quiesce.Body == vocab.QuiesceSuspend && !lasting {
		c.invalid(s.Quiesce.Span, "ON QUIESCE SUSPEND of MQTT TOPIC requires SESSION PERSISTENT QOS 1")
	}
	if s.Mode.Kind == vocab.AckParallel && s.Mode.Max.Value > mqttReceiveMax {
		c.invalid(s.Mode.Max.Span, "PARALLEL MAX of MQTT TOPIC must be at most %d", mqttReceiveMax)
	}
	return session
}

// sourceClauses checks the clauses that one entity has.
func (c *checker) sourceClauses(s ast.Source) {
	if r := s.Postgres; r != nil {
		c.postgres(r)
	}
	if s.Query != nil && s.Query.Text == "" {
		c.invalid(s.Query.Span, "QUERY must not be empty")
	}
	if r := s.Range; r != nil {
		c.timestamp(r.From)
		c.positive(r.Step, "STEP")
	}
	if l := s.Push; l != nil {
		c.bounds(l.Pending, "MAX PENDING", 1, pushPendingMax)
		c.size(l.Size, "MAX SIZE")
	}
	if i := s.Iggy; i != nil {
		c.iggy(i)
	}
}

func (c *checker) postgres(r *ast.PostgresRead) {
	var columns nameSet
	for _, column := range r.Columns {
		c.column(column)
		c.unique(&columns, ast.Name(column), "column '%s' is listed twice")
	}
	if r.Action != ast.ReadAndDelete {
		c.column(r.Column)
	}
	if r.Key != nil {
		c.column(*r.Key)
	}
	if r.Action == ast.ReadAndMark && r.Key != nil && r.Key.Text == r.Column.Text {
		c.invalid(r.Key.Span, "KEY must be another column than the mark '%s'", r.Column.Text)
	}
}

// column checks the name of a column.
func (c *checker) column(name ast.Text) {
	if err := vocab.ColumnName(name.Text); err != nil {
		c.invalid(name.Span, "column '%s' %v", name.Text, err)
	}
}

func (c *checker) iggy(i *ast.IggyStart) {
	if len(i.Partitions) > iggyPartitionsMax {
		c.invalid(i.Partitions[iggyPartitionsMax].Span, "PARTITIONS has at most %d members", iggyPartitionsMax)
	}
	var seen nameSet
	for _, n := range i.Partitions {
		c.bounds(n, "a partition", 0, 1<<32-1)
		c.unique(&seen, ast.Name{Text: strconv.FormatUint(n.Value, 10), Span: n.Span}, "partition %s is listed twice")
	}
	if i.Origin == ast.IggyAt {
		c.timestamp(i.At)
	}
	if i.Store != nil {
		if err := vocab.IggyName(i.Store.Text); err != nil {
			c.invalid(i.Store.Span, "STORE OFFSET AS '%s' %v", i.Store.Text, err)
		}
	}
}

// timestamp checks an instant of RFC 3339.
func (c *checker) timestamp(t ast.Text) {
	switch _, verdict := rfc3339.Parse([]byte(t.Text)); verdict {
	case rfc3339.Invalid:
		c.invalid(t.Span, "timestamp '%s' is not RFC 3339", t.Text)
	case rfc3339.Range:
		c.invalid(t.Span, "timestamp '%s' is outside the signed 64-bit nanosecond range", t.Text)
	}
}
