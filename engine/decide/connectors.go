package decide

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkSource looks at what a source needs of the other entities it meets: its
// client's settings, and who else reads the same.
func (c *Candidate) checkSource(e *entry, x *model.Ingestor, f *found) {
	s := x.Source
	client, _ := lookup[*model.Client](c, vocab.EntityClient, s.Client.Text)
	switch s.Entity {
	case vocab.SourceMQTTTopic:
		id, ok := setting(client, vocab.KeyClientID)
		if s.Instances > 1 && !(ok && hasInstance(id)) {
			f.add(ast.CodeInvalid, s.Client.Span, "INSTANCES %d of MQTT TOPIC requires the key 'client_id' of CLIENT '%s' to contain {{%s}}",
				s.Instances, client.Name, vocab.InstanceWord)
		}
	case vocab.SourceSyslogListener:
		if _, ok := setting(client, vocab.KeyCertificate); vocab.SyslogTLS(client.Config) && !ok {
			f.add(ast.CodeInvalid, s.Client.Span, "SYSLOG LISTENER requires the keys 'tls_cert_file' and 'tls_key_file' of CLIENT '%s', which is the server",
				client.Name)
		}
	}
	for other := range c.kind(vocab.EntityIngestor) {
		if e.later(other) {
			c.checkShared(x, other.entity.(*model.Ingestor), f)
		}
	}
}

// later reports whether an entity rather than another is at fault for what both
// claim: what the batch adds, else the later name.
func (e *entry) later(other *entry) bool {
	if e.created != other.created {
		return e.created
	}
	return e.key.Name > other.key.Name
}

// checkShared refuses a second ingestor at a source that only one can read.
func (c *Candidate) checkShared(x, other *model.Ingestor, f *found) {
	a, b := x.Source, other.Source
	pushed := a.Entity == vocab.SourceHTTPPush || b.Entity == vocab.SourceHTTPPush
	if pushed && a.Endpoint.Text != "" && a.Endpoint.Text == b.Endpoint.Text {
		f.add(ast.CodeInvalid, a.Endpoint.Span, "ENDPOINT '%s' is read by INGESTOR '%s', and HTTP PUSH shares it with no other", a.Endpoint.Text, other.Name)
	}
	if a.Entity != vocab.SourceKafkaTopic || b.Entity != vocab.SourceKafkaTopic {
		return
	}
	topic := a.Names.Get("TOPIC")
	if topic == b.Names.Get("TOPIC") && (byDomain(a) || byDomain(b)) && c.sameCluster(a.Client.Text, b.Client.Text) {
		f.add(ast.CodeInvalid, a.Names[0].Text.Span, "TOPIC '%s' is read by INGESTOR '%s', and OFFSET BY DOMAIN shares it with no other", topic, other.Name)
	}
}

// byDomain reports whether the node keeps the offsets of a Kafka source.
func byDomain(s model.Source) bool {
	return s.Entity == vocab.SourceKafkaTopic && s.Names.Get("OFFSET BY CONSUMER GROUP") == ""
}

// sameCluster reports whether two clients name the same servers.
func (c *Candidate) sameCluster(a, b string) bool {
	servers := func(name string) string {
		client, _ := lookup[*model.Client](c, vocab.EntityClient, name)
		text, _ := setting(client, vocab.KeyKafkaServers)
		return text
	}
	return a == b || servers(a) == servers(b)
}

// setting returns the value of a key of a client's CONFIG.
func setting(client *model.Client, key string) (string, bool) {
	if client == nil {
		return "", false
	}
	for _, e := range client.Config {
		if e.Key == key {
			return e.Value, true
		}
	}
	return "", false
}

// hasInstance reports whether a setting differs between instances.
func hasInstance(text string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "{{")
		if !found {
			return false
		}
		word, behind, _ := strings.Cut(after, "}}")
		if strings.TrimSpace(word) == vocab.InstanceWord {
			return true
		}
		rest = behind
	}
}

// checkSink looks at what a sink needs of its client, its codec and its inputs.
func (c *Candidate) checkSink(x *model.Emitter, f *found) {
	s := x.Sink
	c.checkBatch(x, f)
	client, _ := lookup[*model.Client](c, vocab.EntityClient, s.Client.Text)
	switch s.Entity {
	case vocab.SinkHTTPRequest:
		if _, err := vocab.ParseHTTP(client.Config); err != nil {
			f.add(ast.CodeInvalid, s.Client.Span, "HTTP REQUEST needs another CLIENT than '%s': %v", client.Name, err)
		}
	case vocab.SinkSQSQueue:
		if s.Group != nil && s.Group.By == nil {
			c.checkBranched(x, "FIFO GROUP FROM BRANCH", s.Group.Span, f)
		}
	case vocab.SinkIggyTopic:
		if s.Partition.Rule == ast.PartitionByBranch {
			c.checkBranched(x, "PARTITION BY BRANCH", s.Partition.Span, f)
		}
	}
}

// checkBatch demands a codec that can put several records into one payload.
func (c *Candidate) checkBatch(x *model.Emitter, f *found) {
	if x.Batch == nil || x.Body.Codec == nil {
		return
	}
	codec, _ := c.codec(x.Body.Codec.Text)
	switch {
	case codec.Protobuf != nil && codec.Protobuf.BatchMessage == nil:
		f.add(ast.CodeInvalid, x.Batch.Span, "BATCH needs a BATCH MESSAGE of CODEC '%s'", codec.Name)
	case x.Sink.Entity == vocab.SinkSentryEvent && (codec.Programs == nil || codec.Programs.EmittingBatch == nil):
		f.add(ast.CodeInvalid, x.Batch.Span, "BATCH of SENTRY EVENT needs a program ON EMITTING BATCH of CODEC '%s'", codec.Name)
	}
}

// checkBranched demands a branch of every input.
func (c *Candidate) checkBranched(x *model.Emitter, clause string, span vocab.Span, f *found) {
	for _, in := range x.Inputs.From {
		if r, _ := lookup[*model.Relay](c, vocab.EntityRelay, in.Relay.Text); r.Branch.By == nil {
			f.add(ast.CodeInvalid, span, "%s needs branched inputs, and RELAY '%s' is unbranched", clause, in.Relay.Text)
		}
	}
}
