package decide

import (
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

const modeRetry = " RETRY POLICY BACKOFF 1s MAX 2s"

// sourceModes are the texts of each mode of a source.
var sourceModes = map[vocab.SourceModeKind][]string{
	vocab.NoAckSequential: {"MODE NO_ACK SEQUENTIAL"},
	vocab.NoAckParallel:   {"MODE NO_ACK PARALLEL"},
	vocab.AckSequential:   {"MODE ACK SEQUENTIAL ACK TIMEOUT 5s" + modeRetry},
	vocab.AckParallel: {"MODE ACK PARALLEL MAX 8 BATCH TIMEOUT 1s ACK TIMEOUT 5s" + modeRetry,
		"MODE ACK PARALLEL MAX 8 ACK TIMEOUT 5s" + modeRetry},
}

// quiesceBodies are the texts of each body of ON QUIESCE.
var quiesceBodies = map[vocab.QuiesceBody]string{
	vocab.QuiesceSuspend: "SUSPEND", vocab.QuiesceBuffer: "BUFFER MAX SIZE 1MiB ON OVERFLOW DROP OLDEST", vocab.QuiesceDrop: "DROP",
	vocab.QuiesceReject: "REJECT RETRY AFTER 1s", vocab.QuiesceEndpointBuffer: "BUFFER MAX SIZE 1MiB",
}

// sourceBodies are the bodies of FROM up to MODE, one of each entity.
var sourceBodies = map[vocab.SourceEntity]string{
	vocab.SourceKafkaTopic: "KAFKA c TOPIC t OFFSET BY DOMAIN", vocab.SourcePulsarTopic: "PULSAR c TOPIC t SUBSCRIPTION s",
	vocab.SourceRabbitMQQueue: "RABBITMQ c QUEUE q", vocab.SourceSQSQueue: "SQS c QUEUE q", vocab.SourceMQTTTopic: "MQTT c TOPIC t SESSION PERSISTENT QOS 1",
	vocab.SourceNATSSubject: "NATS c SUBJECT s QUEUE GROUP g INSTANCES 1", vocab.SourceNATSStream: "NATS c STREAM s CONSUMER x",
	vocab.SourceRedisChannel: "REDIS PUBSUB c CHANNEL x", vocab.SourceZeroMQSocket: "ZEROMQ c", vocab.SourceSyslogListener: "SYSLOG c",
	vocab.SourceWebSocketsConnection: "WEBSOCKETS CONNECTION c", vocab.SourceHTTPPoll: "HTTP c EVERY 1s",
	vocab.SourcePrometheusQuery: "PROMETHEUS c QUERY 'up' EVERY 1s", vocab.SourceHTTPEndpoint: "HTTP ENDPOINT e",
	vocab.SourceWebSocketsEndpoint: "WEBSOCKETS ENDPOINT e", vocab.SourceClientSchema: "CLIENT SCHEMA s",
	vocab.SourcePostgresTable: "POSTGRES c TABLE t READ AND DELETE KEY k MAX ROWS 5 EVERY 1s", vocab.SourceRandomSequence: "RANDOM SEED 1 MAX ROWS 5 EVERY 1s",
	vocab.SourceElasticsearchIndex:  "ELASTICSEARCH c INDEX 'i' BY CURSOR t MAX ROWS 5 EVERY 1s",
	vocab.SourceInfluxDBMeasurement: "INFLUXDB c MEASUREMENT 'm' RANGE FROM '2026-01-01T00:00:00Z' STEP 1m LAG 1s MAX ROWS 5 EVERY 1s",
	vocab.SourceHTTPPush:            "HTTP PUSH e MAX PENDING 1 MAX SIZE 1MB MAX ROWS 5 EVERY 1s", vocab.SourceIggyTopic: "IGGY c STREAM s TOPIC t START FIRST MAX ROWS 5 EVERY 1s",
}

// accepts reports whether a statement stands by itself; what else goes wrong is a
// fault of its text.
func accepts(t *testing.T, text string) bool {
	s, err := parse.Statement(text)
	if err != nil {
		return false
	}
	_, found := model.Lower(s.(ast.Declaration))
	for _, d := range found {
		if d.Code != ast.CodeInvalid {
			t.Errorf("%s: %v", text, d)
		}
	}
	return len(found) == 0
}

// TestSourceModes writes every mode and every ON QUIESCE to every source: exactly
// those that the entity declares are accepted.
func TestSourceModes(t *testing.T) {
	for _, entity := range vocab.SourceEntities() {
		can := entity.Capabilities()
		decode := " DECODE USING k"
		if can.Payload == vocab.NativeArrow {
			decode = ""
		}
		const tail = " TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
		head := "CREATE INGESTOR i FROM " + sourceBodies[entity]
		for _, body := range primitives.SortedKeys(quiesceBodies) {
			quiesce := quiesceBodies[body]
			quiesces := can.CanQuiesce(body)
			if polled := head + " ON QUIESCE " + quiesce + decode + tail; accepts(t, polled) != (quiesces && can.Pace == vocab.Polled) {
				t.Errorf("%s: want %t", polled, quiesces && can.Pace == vocab.Polled)
			}
			for _, kind := range primitives.SortedKeys(sourceModes) {
				texts := sourceModes[kind]
				accepted := 0
				for _, mode := range texts {
					if accepts(t, head+" "+mode+" ON QUIESCE "+quiesce+decode+tail) {
						accepted++
					}
				}
				want := 0
				if quiesces && can.Pace != vocab.Polled && can.Allows(kind) {
					want = 1 // BATCH TIMEOUT belongs to what batches and to nothing else
				}
				if accepted != want {
					t.Errorf("%s %s ON QUIESCE %s is accepted %d times, not %d", entity, kind, quiesce, accepted, want)
				}
			}
		}
	}
	// What MQTT keeps while nobody listens needs a session that lasts.
	for _, session := range []string{"", " SESSION CLEAN QOS 1", " SESSION PERSISTENT QOS 0"} {
		for _, text := range []string{"MODE NO_ACK SEQUENTIAL ON QUIESCE SUSPEND", sourceModes[vocab.AckSequential][0] + " ON QUIESCE DROP"} {
			if statement := "CREATE INGESTOR i FROM MQTT c TOPIC t" + session + " " + text + " DECODE USING k TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"; accepts(t, statement) {
				t.Error(statement)
			}
		}
	}
}

// sinkModes are the texts of each mode of a sink.
var sinkModes = map[vocab.SinkModeKind]string{
	vocab.SinkNoAck: "NO_ACK", vocab.SinkAckWindow: "ACK SEQUENTIAL ACK TIMEOUT 5s", vocab.SinkAckRequest: "ACK",
	vocab.SinkJetStreamAck: "JETSTREAM ACK PARALLEL MAX 4 ACK TIMEOUT 5s", vocab.SinkQoS0: "QOS 0",
	vocab.SinkQoS1: "QOS 1 ACK SEQUENTIAL ACK TIMEOUT 5s", vocab.SinkQoS2: "QOS 2 ACK PARALLEL MAX 4 ACK TIMEOUT 5s",
	vocab.SinkSingle: "SINGLE", vocab.SinkBatched: "BATCH",
}

// sinkBodies are the bodies of TO up to MODE, one of each entity.
var sinkBodies = map[vocab.SinkEntity]string{
	vocab.SinkKafkaTopic: "KAFKA c TOPIC t", vocab.SinkPulsarTopic: "PULSAR c TOPIC t", vocab.SinkRabbitMQQueue: "RABBITMQ c QUEUE q",
	vocab.SinkNATSSubject: "NATS c SUBJECT s", vocab.SinkMQTTTopic: "MQTT c TOPIC t", vocab.SinkRedisChannel: "REDIS PUBSUB c CHANNEL x",
	vocab.SinkZeroMQSocket: "ZEROMQ c", vocab.SinkSyslogSender: "SYSLOG c", vocab.SinkSQSQueue: "SQS c QUEUE q", vocab.SinkSentryEvent: "SENTRY c",
	vocab.SinkHTTPRequest: "HTTP c METHOD 'PUT' PATH '/'", vocab.SinkIggyTopic: "IGGY c STREAM s TOPIC t", vocab.SinkClientSchema: "CLIENT SCHEMA s",
	vocab.SinkClickHouseTable: "CLICKHOUSE c INSERT TO TABLE t VALUES { 'a' = a }", vocab.SinkPostgresTable: "POSTGRES c INSERT TO TABLE t VALUES { 'a' = a }",
	vocab.SinkMySQLTable: "MYSQL c INSERT TO TABLE t VALUES { 'a' = a }", vocab.SinkMongoDBCollection: "MONGODB c INSERT TO COLLECTION t VALUES { 'a' = a }",
	vocab.SinkIcebergTable: "ICEBERG ON S3 c TABLE t VALUES { 'a' = a } LOCATION 's3://b/t' CATALOG c COMMIT EACH 1m MAX SIZE 1MiB",
	vocab.SinkOTELLogs:     "OTEL c LOGS VALUES { 'time' = a, 'body' = b }",
	vocab.SinkOTELTraces:   "OTEL c TRACES VALUES { 'trace_id' = a, 'span_id' = b, 'name' = c, 'start_time' = d, 'end_time' = e }",
	vocab.SinkOTELMetric:   "OTEL c METRIC 'm' UNIT '1' GAUGE VALUES { 'time' = a, 'value' = b }",
}

// TestSinkModes writes every mode, BATCH and INVOKE to every sink: exactly those that
// the entity declares are accepted.
func TestSinkModes(t *testing.T) {
	for _, entity := range vocab.SinkEntities() {
		can := entity.Capabilities()
		body := map[vocab.CodecRule]string{
			vocab.CodecRequired: " ENCODE USING k INHERIT ALL", vocab.CodecOrWithoutBody: " ENCODE USING k INHERIT ALL", vocab.CodecNative: " INHERIT ALL",
		}[can.Codec]
		for _, kind := range primitives.SortedKeys(sinkModes) {
			mode := sinkModes[kind]
			for _, batch := range []string{"", " BATCH MAX MESSAGES 5 MAX SIZE 64KiB"} {
				for _, invoke := range []string{"", " INVOKE write_header('x', 'y')"} {
					text := "CREATE EMITTER e FROM r TO " + sinkBodies[entity] + " MODE " + mode + modeRetry + body + invoke + batch +
						" FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
					want := can.Allows(kind) && (invoke == "" || can.Headers != vocab.HeadersNone) &&
						(batch == "" && can.Batch != vocab.BatchRequired || batch != "" && can.Batch != vocab.BatchForbidden)
					if accepts(t, text) != want {
						t.Errorf("%s: want %t", text, want)
					}
				}
			}
		}
		for _, other := range []string{" WITHOUT BODY", " ENCODE USING k INHERIT ALL", ""} {
			mode := sinkModes[can.Modes[0]]
			batch := ""
			if can.Batch == vocab.BatchRequired {
				batch = " BATCH MAX MESSAGES 5 MAX SIZE 64KiB"
			}
			text := "CREATE EMITTER e FROM r TO " + sinkBodies[entity] + " MODE " + mode + modeRetry + other + batch +
				" FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
			var want bool
			switch can.Codec {
			case vocab.CodecRequired:
				want = strings.HasPrefix(other, " ENCODE")
			case vocab.CodecOrWithoutBody:
				want = other != ""
			default:
				want = other == ""
			}
			if accepts(t, text) != want {
				t.Errorf("%s: want %t", text, want)
			}
		}
	}
}
