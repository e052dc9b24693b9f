package render_test

import (
	"strings"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (g generator) externalNames(rules []vocab.NameRule) ast.ExternalNames {
	var list ast.ExternalNames
	for _, r := range rules {
		if r.Or != "" && g.bool() {
			continue
		}
		list = append(list, ast.ExternalName{Role: r.Role, Text: g.external(r.Check)})
	}
	return list
}

// external draws a name that its owner takes.
func (g generator) external(check func(string) error) ast.Text {
	fits := func(s string) bool { return check(s) == nil }
	for _, from := range []*rapid.Generator[string]{externals, subjects} {
		if text := from.Draw(g.T, "external"); fits(text) {
			return ast.Text{Text: text}
		}
	}
	return ast.Text{Text: rapid.StringMatching(`[a-z]{1,6}`).Draw(g.T, "external")}
}

func (g generator) column() ast.Text { return g.external(vocab.ColumnName) }

// columns draws up to n columns, each once.
func (g generator) columns(n int) []ast.Text {
	var list []ast.Text
	seen := map[string]bool{}
	for range 1 + g.int(n-1) {
		if c := g.column(); !seen[c.Text] {
			seen[c.Text] = true
			list = append(list, c)
		}
	}
	return list
}

func (g generator) ref(text string) *ast.Text { return &ast.Text{Text: text} }

func (g generator) source() model.Source {
	entities := vocab.SourceEntities()
	s := model.Source{Entity: entities[g.int(len(entities)-1)], Instances: 1}
	can := s.Entity.Capabilities()
	switch can.Subject {
	case vocab.SubjectClient:
		s.Client = ast.Name{Text: rapid.OneOf(names, rapid.SampledFrom([]string{"endpoint", "push", "connection"})).Draw(g.T, "client")}
	case vocab.SubjectEndpoint:
		s.Endpoint = g.name()
	case vocab.SubjectSchema:
		s.Schema = g.name()
	}
	s.Names = g.externalNames(can.Names)
	if can.InstancesMax > 1 {
		s.Instances = g.uint(can.InstancesMax).Value
	}
	if len(can.Modes) > 0 {
		s.Mode.Kind = can.Modes[g.int(len(can.Modes)-1)]
	}
	if s.Mode.Kind == vocab.AckParallel {
		s.Mode.Max = g.uint(65_535)
		if can.Payload != vocab.NativeArrow {
			s.Mode.BatchTimeout = g.duration()
		}
	}
	if s.Mode.Kind >= vocab.AckSequential {
		s.Mode.AckTimeout, s.Mode.Retry = g.seconds(), g.retry()
	}
	switch can.Pace {
	case vocab.Polled:
		d := g.duration()
		s.Every = &d
	case vocab.CursorTail:
		s.Cursor = &ast.Cursor{MaxRows: g.uint(65_536), Every: g.duration()}
	}
	s.Quiesce = g.quiesce(can)
	g.sourceClauses(&s)
	s.ByEndpoint = s.Entity == vocab.SourceHTTPEndpoint && g.bool()
	return s
}

// written is a source as SET FROM writes it, with all defaults.
func written(m model.Source) ast.Source {
	s := ast.Source{
		Entity: m.Entity, ByEndpoint: m.ByEndpoint, Client: m.Client, Endpoint: m.Endpoint, Schema: m.Schema, Names: m.Names, Seed: ast.Uint{Value: m.Seed},
		Postgres: m.Postgres, Query: m.Query, Range: m.Range, Push: m.Push, Iggy: m.Iggy, Every: m.Every, Cursor: m.Cursor, Mode: m.Mode, Quiesce: m.Quiesce,
	}
	if m.Entity.Capabilities().InstancesMax > 1 {
		s.Instances = &ast.Uint{Value: m.Instances}
	}
	if m.MQTT != nil {
		s.MQTT = &ast.MQTTSession{Persistent: &m.MQTT.Persistent, QoS: &ast.Uint{Value: uint64(m.MQTT.QoS)}}
	}
	return s
}

func (g generator) quiesce(can *vocab.SourceCapabilities) ast.Quiesce {
	q := ast.Quiesce{Body: can.Quiesce[g.int(len(can.Quiesce)-1)]}
	switch q.Body {
	case vocab.QuiesceBuffer:
		q.MaxSize, q.DropOldest = g.size(), g.bool()
	case vocab.QuiesceEndpointBuffer:
		q.MaxSize = g.size()
	case vocab.QuiesceReject:
		q.RetryAfter = g.duration()
	}
	return q
}

func (g generator) sourceClauses(s *model.Source) {
	switch s.Entity {
	case vocab.SourceRandomSequence:
		s.Seed = rapid.Uint64().Draw(g.T, "seed")
	case vocab.SourceMQTTTopic:
		s.MQTT = &vocab.MQTTSession{Persistent: true, QoS: 1}
		if s.Mode.Kind < vocab.AckSequential && s.Quiesce.Body != vocab.QuiesceSuspend {
			s.MQTT = &vocab.MQTTSession{Persistent: g.bool(), QoS: uint8(g.int(1))}
		}
	case vocab.SourcePostgresTable:
		s.Postgres = g.postgresRead()
	case vocab.SourceElasticsearchIndex:
		if g.bool() {
			s.Query = g.ref("x" + g.text())
		}
	case vocab.SourceInfluxDBMeasurement:
		s.Range = &ast.InfluxRange{From: ast.Text{Text: "2026-01-01T00:00:00Z"}, Step: g.duration(), Lag: g.duration()}
	case vocab.SourceHTTPPush:
		s.Push = &ast.PushLimits{Pending: g.uint(1 << 20), Size: g.size()}
	case vocab.SourceIggyTopic:
		i := &ast.IggyStart{Origin: ast.IggyOrigin(g.int(int(ast.IggyAt)))}
		for n := range g.int(2) {
			i.Partitions = append(i.Partitions, ast.Uint{Value: uint64(n)})
		}
		switch i.Origin {
		case ast.IggyOffset:
			i.Offset.Value = rapid.Uint64().Draw(g.T, "offset")
		case ast.IggyAt:
			i.At.Text = "1999-12-31T23:59:59.999+01:00"
		}
		if g.bool() {
			i.Store = g.ref("plexus")
		}
		s.Iggy = i
	}
}

func (g generator) postgresRead() *ast.PostgresRead {
	r := &ast.PostgresRead{Action: ast.PostgresAction(g.int(int(ast.ReadAndMark)))}
	if g.bool() {
		r.Columns = g.columns(3)
	}
	if r.Action != ast.ReadAndDelete {
		r.Column = g.column()
	}
	if r.Action == ast.ReadByCursor && g.bool() {
		r.After = g.ref(g.text())
	}
	if r.Action != ast.ReadByCursor || g.bool() {
		key := g.column()
		key.Text += "k"
		r.Key = &key
	}
	if r.Key != nil && r.Key.Text == r.Column.Text {
		r.Key.Text += "k"
	}
	return r
}

func (g generator) ingestor() *model.Ingestor {
	i := &model.Ingestor{Name: g.own(), Source: g.source(), Filter: g.maybeExpr(), Routes: g.routes(ingesting), GeneralError: ast.GeneralError(g.int(1))}
	if i.Source.Entity != vocab.SourceClientSchema {
		i.Decode = g.name()
	}
	switch g.int(2) {
	case 0:
		i.Timestamp = &ast.Timestamp{Now: true}
	case 1:
		i.Timestamp = &ast.Timestamp{At: g.name()}
	}
	return i
}

func (g generator) emitter() *model.Emitter {
	entities := vocab.SinkEntities()
	e := &model.Emitter{Name: g.own(), Attached: g.bool(), Inputs: g.inputs(), States: g.states(), Flush: g.flush(), OnError: g.messageError(),
		GeneralError: ast.GeneralError(g.int(1))}
	s := &e.Sink
	s.Entity = entities[g.int(len(entities)-1)]
	can := s.Entity.Capabilities()
	if can.Subject == vocab.SubjectSchema {
		s.Schema = g.name()
	} else {
		s.Client = g.name()
	}
	s.Names = g.externalNames(can.Names)
	s.Mode = ast.SinkMode{Kind: can.Modes[g.int(len(can.Modes)-1)], Retry: g.retry()}
	if s.Mode.Kind.Windowed() {
		s.Mode.AckTimeout = g.duration()
		if g.bool() {
			n := g.uint(1 << 20)
			s.Mode.Window.Max = &n
		}
	}
	g.sinkClauses(s)
	e.Body = g.body(can)
	if can.Batch == vocab.BatchRequired || can.Batch == vocab.BatchOptional && g.bool() {
		e.Batch = &ast.Batch{MaxMessages: g.uint(65_536), MaxSize: ast.Size{Size: vocab.Size{Bytes: 1 << 18, Text: "256KiB"}}}
	}
	return e
}

func (g generator) body(can *vocab.SinkCapabilities) ast.Body {
	var body ast.Body
	switch {
	case can.Codec == vocab.CodecNative:
		body.Construction = g.construction()
	case can.Codec == vocab.CodecDirect, can.Codec == vocab.CodecOrWithoutBody && g.bool():
		body.Construction.Where = g.maybeExpr()
	default:
		codec := g.name()
		body.Codec, body.Construction = &codec, g.construction()
	}
	if can.Headers != vocab.HeadersNone {
		for range g.int(2) {
			body.Invoke = append(body.Invoke, ast.HeaderWrite{Name: &ast.StringLit{Value: "x-y"}, Value: g.leafNoText()})
		}
	}
	return body
}

func (g generator) sinkClauses(s *ast.Sink) {
	if s.Entity.Capabilities().Values {
		for _, c := range g.columns(3) {
			s.Values = append(s.Values, ast.Mapping{Key: c, Value: g.expr(2)})
		}
	}
	switch s.Entity {
	case vocab.SinkHTTPRequest:
		s.Method = &ast.Field{Scope: ast.ScopeInput, Name: g.name()}
		s.Path = &ast.Call{Name: ast.Name{Text: "concat"}, Args: g.exprs(2, 2)}
	case vocab.SinkSQSQueue:
		if g.bool() {
			s.Names[0].Text.Text = "orders.fifo"
			s.Group = &ast.Group{By: g.maybeExpr()}
		} else {
			s.Names[0].Text.Text = strings.TrimSuffix(s.Names[0].Text.Text, vocab.FIFOSuffix)
		}
	case vocab.SinkIggyTopic:
		s.Partition = &ast.Partition{Rule: ast.PartitionRule(g.int(int(ast.PartitionNumber)))}
		if s.Partition.Rule == ast.PartitionNumber {
			s.Partition.Number = g.uint(1000)
		}
	case vocab.SinkPostgresTable, vocab.SinkMySQLTable, vocab.SinkMongoDBCollection:
		s.Values = append(s.Values, ast.Mapping{Key: ast.Text{Text: "Zz zZ"}, Value: g.expr(1)})
		s.Conflict = g.conflict(s)
	case vocab.SinkIcebergTable:
		s.Backend.Type = vocab.ClientAzureBlob
		s.Lake = &ast.Lake{Location: ast.Text{Text: "wasbs://c@a.blob.core.example/x"}, Catalog: g.name(), Commit: ast.CommitEach{Each: g.duration(), MaxSize: g.size()}}
		if g.bool() {
			s.Backend.Type, s.Lake.Location.Text = vocab.ClientS3, "s3://lake/x"
		}
	case vocab.SinkOTELLogs, vocab.SinkOTELTraces, vocab.SinkOTELMetric:
		g.telemetry(s)
	}
}

func (g generator) conflict(s *ast.Sink) *ast.Conflict {
	if g.bool() && s.Entity != vocab.SinkMongoDBCollection {
		return nil
	}
	c := &ast.Conflict{Update: g.bool()}
	if s.Entity == vocab.SinkMongoDBCollection || s.Entity == vocab.SinkPostgresTable && (c.Update || g.bool()) {
		c.Target = []ast.Text{s.Values[0].Key}
	}
	return c
}

func (g generator) telemetry(s *ast.Sink) {
	if s.Entity == vocab.SinkOTELMetric {
		m := &ast.Metric{Name: ast.Text{Text: "m" + g.text()}, Unit: ast.Text{Text: g.text()}, Instrument: vocab.Instrument(g.int(2))}
		m.Monotonic = m.Instrument == vocab.Sum && g.bool()
		m.Cumulative = m.Instrument != vocab.Gauge && g.bool()
		if g.bool() {
			m.Description = g.ref(g.text())
		}
		s.Metric = m
	}
	s.Values = nil
	for _, v := range model.SignalOf(*s) {
		if v.Required || g.bool() {
			s.Values = append(s.Values, ast.Mapping{Key: ast.Text{Text: v.Name}, Value: g.expr(1)})
		}
	}
	for _, c := range g.columns(2) {
		s.Attributes = append(s.Attributes, ast.Mapping{Key: c, Value: g.expr(1)})
	}
	if g.bool() {
		s.Resource = []ast.Mapping{
			{Key: ast.Text{Text: "service.name"}, Value: &ast.StringLit{Value: g.text()}},
			{Key: ast.Text{Text: "n"}, Value: &ast.Unary{Op: ast.Neg, X: &ast.IntLit{Value: 3}}},
			{Key: ast.Text{Text: "on"}, Value: &ast.List{Items: []ast.Expr{&ast.BoolLit{Value: g.bool()}}}},
		}
	}
	if g.bool() {
		s.Scope = &ast.Instrumentation{Name: ast.Text{Text: "s" + g.text()}}
		if g.bool() {
			s.Scope.Version = g.ref(g.text())
		}
	}
}

// clientConfigs are configurations that their types take.
var clientConfigs = map[vocab.ClientType][]vocab.ConfigEntry{
	vocab.ClientKafka:         {{Key: "bootstrap.servers", Value: "a:9092,b"}, {Key: "acks", Value: "all"}},
	vocab.ClientPulsar:        {{Key: "addr", Value: "pulsar://h:6650"}},
	vocab.ClientHTTP:          {{Key: "endpoint", Value: "http://h:1"}, {Key: "timeout_ms", Value: "50"}},
	vocab.ClientSentry:        {{Key: "dsn", Value: "https://k@h/1"}},
	vocab.ClientOTEL:          {{Key: "endpoint", Value: "http://h:4317"}, {Key: "protocol", Value: "grpc"}},
	vocab.ClientPrometheus:    {{Key: "addr", Value: "http://h:9090/p"}},
	vocab.ClientRabbitMQ:      {{Key: "addr", Value: "amqps://h/v"}, {Key: "tls_ca_file", Value: "/it's \"odd\""}},
	vocab.ClientRedis:         {{Key: "addr", Value: "redis://h:1/2"}, {Key: "password", Value: "a'b\"c\n"}},
	vocab.ClientMQTT:          {{Key: "addr", Value: "mqtt://h:1883"}, {Key: "client_id", Value: "c-{{instance}}"}},
	vocab.ClientNATS:          {{Key: "tls_ca_file", Value: "/it's \"odd\""}, {Key: "addr", Value: "tls://h:1,tls://h:2"}},
	vocab.ClientZeroMQ:        {{Key: "addr", Value: "tcp://*:5555"}, {Key: "bind", Value: "true"}},
	vocab.ClientSyslog:        {{Key: "protocol", Value: "udp"}, {Key: "addr", Value: "0.0.0.0:514"}},
	vocab.ClientSQS:           {{Key: "endpoint", Value: "http://h:4566"}},
	vocab.ClientWebSockets:    {{Key: "endpoint", Value: "wss://h/p?q=1"}},
	vocab.ClientClickHouse:    {{Key: "addr", Value: "http://h:8123"}},
	vocab.ClientPostgres:      {{Key: "addr", Value: "postgres://u@h/db?sslmode=disable"}},
	vocab.ClientMySQL:         {{Key: "addr", Value: "mysql://u@h:3306/db"}},
	vocab.ClientMongoDB:       {{Key: "addr", Value: "mongodb://a:1,b:2/db"}},
	vocab.ClientS3:            {{Key: "region", Value: "eu-1"}},
	vocab.ClientGCS:           {{Key: "no_auth", Value: "true"}},
	vocab.ClientAzureBlob:     {{Key: "account_name", Value: "a"}, {Key: "account_key", Value: "k"}},
	vocab.ClientIcebergREST:   {{Key: "uri", Value: "https://c"}, {Key: "header.x", Value: "y"}},
	vocab.ClientElasticsearch: {{Key: "endpoint", Value: "http://h:9200"}},
	vocab.ClientInfluxDB:      {{Key: "url", Value: "http://h"}, {Key: "org", Value: "o"}, {Key: "bucket", Value: "b"}, {Key: "token", Value: "t"}},
	vocab.ClientIggy:          {{Key: "endpoint", Value: "http://h:3000"}, {Key: "token", Value: "t"}},
}

func (g generator) client() *model.Client {
	c := &model.Client{Name: g.own(), Type: rapid.SampledFrom(vocab.ClientTypes()).Draw(g.T, "type")}
	c.Config = append([]vocab.ConfigEntry{}, clientConfigs[c.Type]...)
	if c.Type.Pooled() {
		low := uint32(g.int(8))
		c.Pool = &vocab.Pool{Min: low, Max: low + 1}
	}
	if c.Type == vocab.ClientWebSockets && g.bool() {
		n := g.name()
		c.Signaling = &n
	}
	if g.bool() {
		b := ast.Binding{Resource: g.name()}
		b.Version.Number = g.uint(1 << 40)
		c.Mount = &b
		if c.Type == vocab.ClientNATS {
			c.Config[0].Value = "{{ " + b.Resource.Text + " }}/ca.pem"
		}
	}
	return c
}
