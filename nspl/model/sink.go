package model

import (
	"net/url"
	"slices"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// sink checks a sink up to its mode, with the header writes of its body.
func (c *checker) sink(s ast.Sink, body ast.Body) {
	can := s.Entity.Capabilities()
	c.externalNames(s.Names, can.Names)
	c.mappings("VALUES", s.Values)
	c.mappings("ATTRIBUTES", s.Attributes)
	c.mappings("RESOURCE", s.Resource)
	for _, m := range s.Resource {
		c.literals(m)
	}
	c.sinkClauses(s)
	if s.Mode.Kind.Windowed() {
		c.window(s.Mode.Window.Max)
		c.positive(s.Mode.AckTimeout, "ACK TIMEOUT")
	}
	c.retry(s.Mode.Retry)
	if len(body.Invoke) > 0 && can.Headers == vocab.HeadersNone {
		c.invalid(body.Invoke[0].Span, "%s carries no headers: INVOKE write_header cannot stand here", s.Entity)
	}
	if s.Entity == vocab.SinkHTTPRequest {
		c.httpRequest(s, body)
	}
}

// mappings checks the keys of a block.
func (c *checker) mappings(clause string, list []ast.Mapping) {
	if len(list) > mappingsMax {
		c.invalid(list[mappingsMax].Key.Span, "%s has at most %d entries", clause, mappingsMax)
	}
	var keys nameSet
	for _, m := range list {
		if m.Key.Text == "" {
			c.invalid(m.Key.Span, "a key of %s must not be empty", clause)
		}
		c.unique(&keys, ast.Name(m.Key), "duplicate "+clause+" key '%s'")
	}
}

// literals demands one type of a list of RESOURCE.
func (c *checker) literals(m ast.Mapping) {
	l, ok := m.Value.(*ast.List)
	if !ok {
		return
	}
	for _, item := range l.Items[1:] {
		if literalKind(item) != literalKind(l.Items[0]) {
			c.invalid(item.Place(), "RESOURCE '%s': all elements of a list have one type", m.Key.Text)
			return
		}
	}
}

func literalKind(e ast.Expr) vocab.Kind {
	switch e := e.(type) {
	case *ast.Unary:
		return literalKind(e.X)
	case *ast.IntLit:
		return vocab.I64
	case *ast.FloatLit:
		return vocab.F64
	case *ast.BoolLit:
		return vocab.Bool
	}
	return vocab.String
}

func (c *checker) sinkClauses(s ast.Sink) {
	switch s.Entity {
	case vocab.SinkSQSQueue:
		c.fifo(s)
	case vocab.SinkIggyTopic:
		if s.Partition.Rule == ast.PartitionNumber {
			c.bounds(s.Partition.Number, "PARTITION", 0, 1<<32-1)
		}
	case vocab.SinkClickHouseTable, vocab.SinkPostgresTable, vocab.SinkMySQLTable, vocab.SinkMongoDBCollection:
		for _, m := range s.Values {
			if m.Key.Text != "" {
				c.column(m.Key)
			}
		}
		if s.Conflict != nil {
			c.conflict(s)
		}
	case vocab.SinkIcebergTable:
		c.lake(s)
	case vocab.SinkOTELLogs, vocab.SinkOTELTraces, vocab.SinkOTELMetric:
		c.telemetry(s)
	}
}

// fifo joins the name of an SQS queue with its group.
func (c *checker) fifo(s ast.Sink) {
	queue := s.Names[0].Text
	switch ordered := strings.HasSuffix(queue.Text, vocab.FIFOSuffix); {
	case ordered && s.Group == nil:
		c.add(ast.Errorf(ast.CodeInvalid, queue.Span, "QUEUE '%s' keeps an order and requires FIFO GROUP", queue.Text).
			WithHint("FIFO GROUP FROM BRANCH, or FIFO GROUP and an expression"))
	case !ordered && s.Group != nil:
		c.invalid(s.Group.Span, "FIFO GROUP needs a queue whose name ends in '.fifo', not '%s'", queue.Text)
	}
}

// conflict checks a conflict clause against VALUES.
func (c *checker) conflict(s ast.Sink) {
	mapped := func(name string) bool {
		return slices.ContainsFunc(s.Values, func(m ast.Mapping) bool { return m.Key.Text == name })
	}
	var targets nameSet
	for _, t := range s.Conflict.Target {
		c.unique(&targets, ast.Name(t), "conflict target '%s' is listed twice")
		if !mapped(t.Text) {
			c.invalid(t.Span, "conflict target '%s' is not mapped by VALUES", t.Text)
		}
	}
	updates := slices.ContainsFunc(s.Values, func(m ast.Mapping) bool { return !targets[m.Key.Text] })
	if s.Conflict.Update && !updates {
		c.invalid(s.Conflict.Span, "DO UPDATE needs at least one mapped column besides its target")
	}
}

// lakeSchemes are the location schemes of an object store.
func lakeSchemes(backend vocab.ClientType) []string {
	switch backend {
	case vocab.ClientS3:
		return []string{"s3"}
	case vocab.ClientGCS:
		return []string{"gs"}
	}
	return []string{"wasbs", "wasb"}
}

func (c *checker) lake(s ast.Sink) {
	for _, m := range s.Values {
		if m.Key.Text != "" {
			c.column(m.Key)
		}
	}
	location, schemes := s.Lake.Location, lakeSchemes(s.Backend.Type)
	u, err := url.Parse(location.Text)
	switch {
	case err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		c.invalid(location.Span, "LOCATION of ICEBERG ON %s must begin with %s", s.Backend.Type, strings.Join(schemes, ":// or ")+"://")
	case s.Backend.Type == vocab.ClientAzureBlob && (u.User.Username() == "" || !strings.Contains(u.Host, ".blob.")):
		c.invalid(location.Span, "LOCATION of ICEBERG ON AZURE_BLOB must name container and account: wasbs://container@account.blob.host/path")
	case s.Backend.Type != vocab.ClientAzureBlob && u.User != nil:
		c.invalid(location.Span, "LOCATION must not hold credentials")
	}
	c.positive(s.Lake.Commit.Each, "COMMIT EACH")
	c.size(s.Lake.Commit.MaxSize, "COMMIT MAX SIZE")
}
