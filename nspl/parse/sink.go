package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// lakes are the object stores of Iceberg tables.
var lakes = [...]vocab.ClientType{vocab.ClientS3, vocab.ClientGCS, vocab.ClientAzureBlob}

func (p *parser) backend() ast.Backend {
	for _, t := range lakes {
		if p.accept(t.String()) {
			return ast.Backend{Type: t, Span: p.span(p.at - 1)}
		}
	}
	p.fail()
	return ast.Backend{}
}

// sinkClauses takes what stands between the external names of a sink and its mode.
func (p *parser) sinkClauses(s *ast.Sink) {
	switch s.Entity {
	case vocab.SinkHTTPRequest:
		p.expect("METHOD")
		s.Method = p.exprIn(ClauseRequest)
		p.expect("PATH")
		s.Path = p.exprIn(ClauseRequest)
	case vocab.SinkSQSQueue:
		if first := p.at; p.accept("FIFO GROUP") {
			s.Group = &ast.Group{}
			if !p.accept("FROM BRANCH") {
				s.Group.By = p.exprIn(ClauseGroup)
			}
			s.Group.Span = p.since(first)
		}
	case vocab.SinkIggyTopic:
		if first := p.at; p.accept("PARTITION") {
			s.Partition = &ast.Partition{}
			p.partition(s.Partition)
			s.Partition.Span = p.since(first)
		}
	case vocab.SinkOTELMetric:
		s.Metric = &ast.Metric{}
		p.metric(s.Metric)
	}
	if s.Entity.Capabilities().Values {
		p.expect("VALUES")
		p.mappings(&s.Values, p.mapped)
	}
	switch s.Entity {
	case vocab.SinkPostgresTable, vocab.SinkMySQLTable, vocab.SinkMongoDBCollection:
		if first := p.at; p.accept("ON CONFLICT") {
			s.Conflict = &ast.Conflict{}
			p.conflict(s.Conflict, s.Entity)
			s.Conflict.Span = p.since(first)
		}
	case vocab.SinkIcebergTable:
		s.Lake = &ast.Lake{}
		p.lake(s.Lake)
	case vocab.SinkOTELLogs, vocab.SinkOTELTraces, vocab.SinkOTELMetric:
		p.telemetry(s)
	}
}

// partition ::= BALANCED | BY BRANCH | uint
func (p *parser) partition(q *ast.Partition) {
	switch {
	case p.accept("BALANCED"):
	case p.accept("BY BRANCH"):
		q.Rule = ast.PartitionByBranch
	default:
		q.Rule, q.Number = ast.PartitionNumber, p.uint()
	}
}

// metric ::= string UNIT string (DESCRIPTION string)? (GAUGE | SUM MONOTONIC? temporality | HISTOGRAM temporality)
func (p *parser) metric(m *ast.Metric) {
	first := p.at
	m.Name = p.string()
	p.expect("UNIT")
	m.Unit = p.string()
	if p.accept("DESCRIPTION") {
		text := p.string()
		m.Description = &text
	}
	m.Instrument = []vocab.Instrument{vocab.Gauge, vocab.Sum, vocab.Histogram}[p.one("GAUGE", "SUM", "HISTOGRAM")]
	if m.Instrument == vocab.Sum {
		m.Monotonic = p.accept("MONOTONIC")
	}
	if m.Instrument != vocab.Gauge {
		m.Cumulative = p.one("DELTA", "CUMULATIVE") == 1
	}
	m.Span = p.since(first)
}

// mappings ::= '{' string '=' value, ... '}'
func (p *parser) mappings(all *[]ast.Mapping, value func() ast.Expr) {
	p.expectMark('{')
	for more := true; more; {
		m := ast.Mapping{Key: p.string()}
		p.expectMark('=')
		m.Value = value()
		*all = append(*all, m)
		if p.acceptMark('}') {
			return
		}
		p.expectMark(',')
		more = !p.acceptMark('}')
	}
}

func (p *parser) mapped() ast.Expr { return p.exprIn(ClauseValues) }

// conflict ::= target? DO (UPDATE | NOTHING). A target of MySQL is the table's own,
// one of MongoDB is always written.
func (p *parser) conflict(c *ast.Conflict, e vocab.SinkEntity) {
	switch {
	case e == vocab.SinkMongoDBCollection:
		c.Target = p.externals()
	case e == vocab.SinkPostgresTable && p.acceptMark('('):
		c.Target = list(p, p.external)
		p.expectMark(')')
	}
	if e == vocab.SinkPostgresTable && c.Target == nil {
		p.expect("DO NOTHING") // which row to update, only a target says
		return
	}
	c.Update = p.one("DO UPDATE", "DO NOTHING") == 0
}

// lake ::= LOCATION string CATALOG client COMMIT EACH duration MAX SIZE bytes
func (p *parser) lake(l *ast.Lake) {
	p.expect("LOCATION")
	l.Location = p.string()
	p.expect("CATALOG")
	l.Catalog = p.ref(toClient(vocab.ClientIcebergREST))
	first := p.at
	p.expect("COMMIT EACH")
	p.commitEach(&l.Commit, first)
}

// commitEach takes what follows COMMIT EACH, which begins at a token.
func (p *parser) commitEach(c *ast.CommitEach, first int) {
	c.Each = p.duration()
	p.expect("MAX SIZE")
	c.MaxSize = p.size()
	c.Span = p.since(first)
}

// telemetry ::= (ATTRIBUTES { … })? (RESOURCE { … })? (SCOPE string (VERSION string)?)?
func (p *parser) telemetry(s *ast.Sink) {
	if p.accept("ATTRIBUTES") {
		p.mappings(&s.Attributes, p.mapped)
	}
	if p.accept("RESOURCE") {
		p.mappings(&s.Resource, p.literalOrList)
	}
	if p.accept("SCOPE") {
		s.Scope = &ast.Instrumentation{Name: p.string()}
		if p.accept("VERSION") {
			version := p.string()
			s.Scope.Version = &version
		}
	}
}

// literalOrList ::= literal | '[' literal, ... ']'
func (p *parser) literalOrList() ast.Expr {
	first := p.at
	if !p.acceptMark('[') {
		return p.literalValue()
	}
	l := &ast.List{Items: list(p, p.literalValue)}
	p.expectMark(']')
	l.Span = p.since(first)
	return l
}

// literalValue ::= string | '-'? number | TRUE | FALSE
func (p *parser) literalValue() ast.Expr {
	switch first := p.at; {
	case p.accept("TRUE"), p.accept("FALSE"):
		return &ast.BoolLit{At: ast.At{Span: p.span(first)}, Value: p.is(first, "TRUE")}
	case p.acceptMark('-'):
		if p.kind() != tokenNumber {
			p.want(p.at, "number")
			p.fail()
		}
		number := p.numberLit()
		return &ast.Unary{At: ast.At{Span: p.since(first)}, Op: ast.Neg, X: number}
	case p.kind() == tokenNumber:
		return p.numberLit()
	}
	p.want(p.at, "number")
	text := p.string()
	return &ast.StringLit{At: ast.At{Span: text.Span}, Value: text.Text}
}
