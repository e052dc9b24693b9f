package vocab

import (
	"strings"
	"testing"
)

// line reads "key=value key=value"; %20 stands for a space in a value.
func line(text string) []ConfigEntry {
	var out []ConfigEntry
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		out = append(out, ConfigEntry{key, strings.ReplaceAll(value, "%20", " ")})
	}
	return out
}

// TestClientKeys has for every type what it takes, and what it refuses with the
// keys at fault.
func TestClientKeys(t *testing.T) {
	const kafka, syslog = "bootstrap.servers=a:9092,[::1]:1,b", "addr=0.0.0.0:514 protocol="
	for _, c := range []struct {
		client ClientType
		config string
		faults string // keys in order
	}{
		{ClientKafka, kafka, ""},
		{ClientKafka, kafka + " security.protocol=ssl ssl.ca.location=/ca ssl.certificate.location=/c ssl.key.location=/k enable.ssl.certificate.verification=false", ""},
		{ClientKafka, kafka + " security.protocol=sasl_ssl sasl.mechanism=PLAIN sasl.username=u sasl.password=p ssl.endpoint.identification.algorithm=none", ""},
		{ClientKafka, kafka + " acks=1 enable.idempotence=false linger.ms=0 compression.type=zstd isolation.level=read_committed", ""},
		{ClientKafka, "", "bootstrap.servers"},
		{ClientKafka, "bootstrap.servers=a,", "bootstrap.servers"},
		{ClientKafka, "bootstrap.servers=a:0", "bootstrap.servers"},
		{ClientKafka, "bootstrap.servers=kafka://a", "bootstrap.servers"},
		{ClientKafka, kafka + " enable.auto.commit=true enable.partition.eof=x group.id=g", "group.id enable.auto.commit enable.partition.eof"},
		{ClientKafka, kafka + " acks=1 enable.idempotence=true", "enable.idempotence"},
		{ClientKafka, kafka + " acks=2 linger.ms=-1 fetch.min.bytes=0 sasl.mechanism=GSSAPI", "sasl.mechanism fetch.min.bytes acks linger.ms"},
		{ClientKafka, kafka + " security.protocol=ssl ssl.certificate.location=/c", "ssl.key.location"},
		{ClientKafka, kafka + " librdkafka.thing=1", "librdkafka.thing"},
		{ClientPulsar, "addr=pulsar+ssl://h tls_allow_insecure_connection=true tls_ca_file=/ca", ""},
		{ClientPulsar, "addr=pulsar://h namespace=a/b tls_ca_file=/ca", "tls_ca_file"},
		{ClientPulsar, "addr=pulsar://h namespace=a tls_key_file=/k", "namespace tls_key_file"},
		{ClientRabbitMQ, "addr=amqps://u:p@[::1]/v?heartbeat=5 tls_ca_file=/ca", ""},
		{ClientRabbitMQ, "addr=amqp://h tls_ca_file=/ca", "tls_ca_file"},
		{ClientRabbitMQ, "addr=http://h tls_cert_file=/c", "tls_cert_file addr"},
		{ClientRedis, "addr=unix:///run/redis.sock password=p", ""},
		{ClientRedis, "addr=unix://h/x", "addr"},
		{ClientRedis, "addr=unix:///s tls_ca_file=/ca", "tls_ca_file"},
		{ClientMQTT, "addr=mqtts://h:8883 tls_ca_file=/ca session_expiry_s=4294967295 keep_alive_s=65535", ""},
		{ClientMQTT, "addr=mqtt://h", "addr"}, {ClientMQTT, "addr=mqtt://u:p@h:1", "addr"},
		{ClientMQTT, "addr=mqtts://h:1", "tls_ca_file"}, {ClientMQTT, "addr=mqtt://h:1 tls_ca_file=/ca", "tls_ca_file"},
		{ClientMQTT, "addr=mqtt://h:1 keep_alive_s=0", "keep_alive_s"},
		{ClientZeroMQ, "addr=ipc:///tmp/x send_timeout=5s", ""}, {ClientZeroMQ, "addr=tcp://*:5 bind=true", ""},
		{ClientZeroMQ, "addr=tcp://*:5", "addr"}, {ClientZeroMQ, "addr=udp://h:1 bind=yes send_timeout=0s", "addr bind send_timeout"},
		{ClientSyslog, syslog + "tls tls_cert_file=/c tls_key_file=/k framing=octet-counting", ""}, {ClientSyslog, syslog + "tcp framing=non-transparent", ""},
		{ClientSyslog, syslog + "tls framing=non-transparent", "framing"}, {ClientSyslog, syslog + "udp framing=octet-counting", "framing"},
		{ClientSyslog, syslog + "tcp tls_key_file=/k", "tls_cert_file tls_key_file"}, {ClientSyslog, "addr=h protocol=http", "protocol addr"},
		{ClientSQS, "endpoint=https://sqs region=eu access_key_id=a secret_access_key=b timeout_ms=1", ""},
		{ClientSQS, "endpoint=https://sqs secret_access_key=b", "access_key_id"},
		{ClientHTTP, "url=https://u:p@h/a?b=c method=POST max_body_bytes=1", ""},
		{ClientHTTP, "endpoint=ftp://h method=TRACE timeout_ms=0", "endpoint method timeout_ms"}, {ClientHTTP, "endpoint=http://h url=http://h", "url"},
		{ClientHTTP, "timeout_ms=1", "endpoint"}, {ClientHTTP, "endpoint=http://h tls_key_file=/k", "tls_cert_file"},
		{ClientPrometheus, "addr=http://h:9090/base", ""}, {ClientPrometheus, "addr=h:9090", "addr"},
		{ClientWebSockets, "endpoint=wss://h/p?q tls_ca_file=/ca", ""}, {ClientWebSockets, "endpoint=ws://h tls_ca_file=/ca", "tls_ca_file"},
		{ClientSentry, "dsn=https://k@h/1", ""}, {ClientSentry, "dsn=https://k@h", "dsn"}, {ClientSentry, "dsn=https://h/1", "dsn"},
		{ClientOTEL, "endpoint=http://h protocol=http/protobuf headers=a=b,c=d compression=none", ""},
		{ClientOTEL, "endpoint=http://h protocol=http headers=a", "protocol headers"},
		{ClientClickHouse, "addr=https://h user=u password=p database=d", ""}, {ClientClickHouse, "addr=clickhouse://h", "addr"},
		{ClientPostgres, "addr=postgresql://u:p@h/d?sslmode=verify-full&application_name=x tls_ca_file=/ca", ""},
		{ClientPostgres, "addr=postgres://h/d", "addr"}, {ClientPostgres, "addr=postgres://h/d?sslmode=prefer", "addr"},
		{ClientPostgres, "addr=postgres://h/d?sslmode=disable&password=x", "addr"}, {ClientPostgres, "addr=postgres://h?sslmode=disable tls_ca_file=/ca", "tls_ca_file"},
		{ClientMySQL, "addr=mysql://u@h/d?require_ssl=true tls_ca_file=/ca", ""}, {ClientMySQL, "addr=mysql://u@h/d tls_ca_file=/ca", "tls_ca_file"},
		{ClientMySQL, "addr=mysql://h", "addr"}, {ClientMySQL, "addr=mysql://h/d?tls=true", "addr"}, {ClientMySQL, "addr=mysql://h/d?require_ssl=maybe", "addr"},
		{ClientMongoDB, "addr=mongodb://u:p@a:1,b:2/d?tls=true tls_ca_file=/ca", ""}, {ClientMongoDB, "addr=mongodb+srv://h database=d tls_ca_file=/ca", ""},
		{ClientMongoDB, "addr=mongodb://a", "database"}, {ClientMongoDB, "addr=mongodb+srv://a:1/d", "addr"}, {ClientMongoDB, "addr=mongodb://a:x/d", "addr"},
		{ClientMongoDB, "addr=mongodb://a/d tls_ca_file=/ca", "tls_ca_file"}, {ClientMongoDB, "addr=mongo://a/d", "addr"}, {ClientMongoDB, "addr=mongodb://a/b/c", "addr"},
		{ClientS3, "endpoint=https://h access_key_id=a secret_access_key=b session_token=c", ""}, {ClientS3, "", ""},
		{ClientS3, "session_token=c disable_config_load=true", "session_token region"}, {ClientS3, "access_key_id=a path_style_access=1", "path_style_access"},
		{ClientS3, "allow_anonymous=true access_key_id=a secret_access_key=b", "access_key_id secret_access_key"},
		{ClientGCS, "credentials_json={}", ""}, {ClientGCS, "credentials_json={ token=", "credentials_json token"}, {ClientGCS, "token=t no_auth=true", "token"},
		{ClientAzureBlob, "account_name=a tenant_id=t client_id=c client_secret=s", ""}, {ClientAzureBlob, "connection_string=x", ""},
		{ClientAzureBlob, "account_key=k", "account_name"}, {ClientAzureBlob, "account_name=a account_key=k sas_token=s", "sas_token"},
		{ClientAzureBlob, "connection_string=x account_name=a", "account_name"}, {ClientAzureBlob, "account_name=a client_id=c", "tenant_id client_secret"},
		{ClientIcebergREST, "uri=http://h warehouse=w rest.signing-region=eu header.x=y", ""}, {ClientIcebergREST, "uri=http://h warehous=w", "warehous"},
		{ClientIcebergREST, "uri=http://h token=t credential=c", "credential"},
		{ClientElasticsearch, "endpoint=http://h username=u password=p", ""}, {ClientElasticsearch, "endpoint=http://h api_key=k username=u password=p", "username"},
		{ClientElasticsearch, "endpoint=http://h password=p", "username"},
		{ClientInfluxDB, "url=http://h org=o bucket=b token=t", ""}, {ClientInfluxDB, "", "url org bucket token"},
		{ClientIggy, "endpoint=http://h username=u password=p", ""}, {ClientIggy, "endpoint=http://h", "username"}, {ClientIggy, "endpoint=http://h token=t username=u password=p", "username"},
	} {
		var keys []string
		for _, f := range CheckClientConfig(c.client, line(c.config)) {
			keys = append(keys, f.Key)
		}
		if got := strings.Join(keys, " "); got != c.faults {
			t.Errorf("%s %s: %q, want %q", c.client, c.config, got, c.faults)
		}
	}
}

// TestEveryTypeIsDeclared finds types without keys, and keys that shadow others.
func TestEveryTypeIsDeclared(t *testing.T) {
	for _, client := range ClientTypes() {
		seen := map[string]bool{}
		for _, key := range client.ConfigKeys() {
			if seen[key.Name] || key.Required && key.Never != "" || key.Secret && key.URLs {
				t.Errorf("%s: key %s", client, key.Name)
			}
			seen[key.Name] = true
		}
		if len(seen) == 0 || client.String() == "" {
			t.Errorf("%d has no keys or no name", client)
		}
	}
}

// TestSecretsAreMasked shows no credential in whatever shape.
func TestSecretsAreMasked(t *testing.T) {
	for _, c := range []struct {
		client     ClientType
		key, value string
		want       string
	}{
		{ClientKafka, "sasl.password", "hunter2", "<masked>"}, {ClientSentry, "dsn", "https://hunter2@h/1", "<masked>"},
		{ClientOTEL, "headers", "authorization=hunter2", "<masked>"}, {ClientIcebergREST, "header.authorization", "hunter2", "<masked>"},
		{ClientIcebergREST, "warehouse", "w", "w"}, {ClientMongoDB, "addr", "mongodb://u:hunter2,x@a:1,b:2/d", "mongodb://u:<masked>@a:1,b:2/d"},
		{ClientMongoDB, "addr", "mongodb://a/d?authMechanismProperties=AWS_SESSION_TOKEN:hunter2&tls=true", "mongodb://a/d?authMechanismProperties=<masked>&tls=true"},
		{ClientRabbitMQ, "addr", "amqp://u:hunter2?x@h/v", "amqp://u:<masked>@h/v"}, {ClientPostgres, "addr", "postgres://u:hunter2@h/d?password=hunter2", "postgres://u:<masked>@h/d?password=<masked>"},
		{ClientNATS, "addr", "nats://a:hunter2@h,tls://c:hunter2@d", "nats://a:<masked>@h,tls://c:<masked>@d"}, {ClientHTTP, "url", "http://u:hunter2@h/p?access_token=hunter2", "http://u:<masked>@h/p?access_token=<masked>"},
		{ClientPulsar, "addr", "pulsar://u:hunter2@h", "pulsar://u:<masked>@h"}, {ClientMQTT, "addr", "mqtt://u:hunter2@h:1", "mqtt://u:<masked>@h:1"},
	} {
		if got := MaskConfig(c.client, ConfigEntry{c.key, c.value}); got != c.want {
			t.Errorf("%s %s: %s", c.client, c.key, got)
		}
	}
}

func TestExternalNamesOfOtherSystems(t *testing.T) {
	for _, c := range []struct {
		check            func(string) error
		accepts, refuses string // one name a word, %20 for a space
	}{
		{KafkaTopic, "a A.b_c-1 ...", ". .. a/b ü a%20b"},
		{PulsarTopic, "t persistent://a/b/c non-persistent://a/b/c", "a/b persistent://a/b http://a/b/c persistent://a//c a%20b"},
		{SQSQueue, "a-B_1 orders.fifo", ".fifo a.b orders.fifo.x a/b"},
		{MQTTTopic, "a a/b a%20b /", "a/+ #"}, {MQTTFilter, "+ # a/+/b a/#", "a+ a/#/b #/a $share/g/a"},
		{SQLTable, "t s.t Odd%20Name", ".t t. a.b.c"}, {MongoDBCollection, "a a.b", "system.a a$b"}, {IcebergTable, "t t.x", "a/b"},
		{ElasticsearchIndex, "logs logs-*", "Logs _x -x a,b a/b .. ."}, {InfluxDBMeasurement, "cpu a%20b", "_x"}, {IggyName, "a a/b", ""},
	} {
		for _, name := range strings.Fields(c.accepts) {
			if err := c.check(strings.ReplaceAll(name, "%20", " ")); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, name := range append(strings.Fields(c.refuses), "", "a\x00") {
			if c.check(strings.ReplaceAll(name, "%20", " ")) == nil {
				t.Errorf("%q passed", name)
			}
		}
	}
	for _, check := range []func(string) error{KafkaTopic, SQSQueue, MQTTFilter, RabbitMQQueue, MongoDBCollection, IggyName} {
		if check(strings.Repeat("x", 70_000)) == nil {
			t.Error("a long name passed")
		}
	}
}

// TestTelemetryValues: which values a signal takes.
func TestTelemetryValues(t *testing.T) {
	for _, c := range []struct {
		sink       SinkEntity
		instrument Instrument
		delta      bool
		required   string
	}{
		{SinkOTELLogs, 0, false, "time body"}, {SinkOTELTraces, 0, false, "trace_id span_id name start_time end_time"},
		{SinkOTELMetric, Gauge, true, "time value"}, {SinkOTELMetric, Sum, false, "time value"}, {SinkOTELMetric, Sum, true, "time value start_time"},
		{SinkOTELMetric, Histogram, false, "time count bucket_counts explicit_bounds"},
		{SinkOTELMetric, Histogram, true, "time count bucket_counts explicit_bounds start_time"},
	} {
		var required []string
		for _, v := range OTELValues(c.sink, c.instrument, c.delta) {
			if v.Required {
				required = append(required, v.Name)
			}
			if v.Fits(Scalar(Bytes)) || v.Expect == "" {
				t.Errorf("%s takes anything", v.Name)
			}
		}
		if got := strings.Join(required, " "); got != c.required {
			t.Errorf("%s %s %t: %s", c.sink, c.instrument, c.delta, got)
		}
	}
	for _, v := range OTELValues(SinkOTELTraces, 0, false) {
		bad := map[string]string{"trace_id": strings.Repeat("0", 32), "span_id": "xyz", "parent_span_id": "0123456789abcdeg", "kind": "server", "status_code": ""}
		if text, ok := bad[v.Name]; ok && v.Literal(text, 0) == "" {
			t.Errorf("%s takes %q", v.Name, text)
		}
		if v.Name == "trace_id" && v.Literal("0123456789abcdefABCDEF0123456789", 0) != "" {
			t.Error("a trace id is refused")
		}
	}
}
