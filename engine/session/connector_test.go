package session

import (
	"testing"

	"plexus/engine/session/document"
	"plexus/nspl/model"
)

// TestConnectorFields shows what SHOW INGESTORS and DESCRIBE name of the outside.
func TestConnectorFields(t *testing.T) {
	const retry = " RETRY POLICY BACKOFF 1s MAX 2s"
	ingest := " ON QUIESCE SUSPEND DECODE USING c TO r UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	emit := " FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG"
	batch := " BATCH MAX MESSAGES 1 MAX SIZE 1KB"
	for _, c := range []struct{ text, want string }{
		{"INGESTOR i FROM KAFKA k TOPIC t OFFSET BY CONSUMER GROUP g MODE NO_ACK PARALLEL" + ingest, "client=k topic=t consumer_group=g"},
		{"INGESTOR i FROM KAFKA k TOPIC t OFFSET BY DOMAIN MODE NO_ACK PARALLEL" + ingest, "client=k topic=t offset_by=DOMAIN"},
		{"INGESTOR i FROM MQTT k TOPIC t SESSION PERSISTENT QOS 1 MODE NO_ACK PARALLEL" + ingest, "client=k topic=t session=PERSISTENT qos=1"},
		{"INGESTOR i FROM HTTP k EVERY 5s" + ingest, "client=k every=5s"},
		{"INGESTOR i FROM HTTP ENDPOINT e MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s" + ingest[len(" ON QUIESCE SUSPEND"):], "endpoint=e"},
		{"INGESTOR i FROM ELASTICSEARCH k INDEX 'x' BY CURSOR at MAX ROWS 5 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 1s" + retry + ingest,
			"client=k index=x cursor=at max_rows=5 every=1s"},
		{"EMITTER e FROM r TO KAFKA k TOPIC t MODE NO_ACK" + retry + " ENCODE USING c" + emit, "client=k topic=t codec c"},
		{"EMITTER e FROM r TO CLIENT SCHEMA s MODE ACK SEQUENTIAL ACK TIMEOUT 1s" + retry + batch + emit, "schema=s native Arrow"},
		{"EMITTER e FROM r TO POSTGRES k INSERT TO TABLE t VALUES { 'a' = 1, 'b' = 2 } ON CONFLICT (a) DO UPDATE MODE ACK" + retry + batch + emit,
			"client=k table=t conflict=(a) DO UPDATE direct"},
		{"EMITTER e FROM r TO SQS k QUEUE q.fifo FIFO GROUP FROM BRANCH MODE SINGLE" + retry + " ENCODE USING c" + emit,
			"client=k queue=q.fifo fifo_group=FROM BRANCH codec c"},
		{"EMITTER e FROM r TO HTTP k METHOD 'GET' PATH input.p MODE ACK" + retry + " WITHOUT BODY" + emit, `client=k method='GET' path=input.p without body`},
		{"EMITTER e FROM r TO ICEBERG ON S3 k TABLE t VALUES { 'a' = 1 } LOCATION 's3://l/t' CATALOG g COMMIT EACH 1m MAX SIZE 1MB MODE ACK" + retry + emit,
			"on=S3 client=k table=t location=s3://l/t catalog=g commit_each=1m max_size=1MB direct"},
		{"EMITTER e FROM r TO OTEL k METRIC 'm' UNIT 's' GAUGE VALUES { 'time' = input.at, 'value' = 1 } MODE ACK" + retry + emit,
			"client=k metric=m unit=s instrument=GAUGE direct"},
		{"EMITTER e FROM r TO IGGY k STREAM s TOPIC t PARTITION 3 MODE ACK SEQUENTIAL ACK TIMEOUT 1s" + retry + " ENCODE USING c" + emit,
			"client=k stream=s topic=t partition=3 codec c"},
	} {
		e, err := model.Parse("CREATE " + c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		m, tail := new(document.Map), ""
		switch x := e.(type) {
		case *model.Ingestor:
			sourceFields(m, x)
		case *model.Emitter:
			sinkFields(m, x.Sink)
			tail = " " + bodyText(x)
		}
		if got := inline(m.Value()) + tail; got != c.want {
			t.Errorf("%s:\n%s\n%s", c.text, got, c.want)
		}
	}
}
