package decide

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// levelBase holds one entity of each kind that changes are classified of.
const levelBase = `CREATE SCHEMA row (site STRING, n I64);
CREATE SCHEMA other (site STRING, n I64);
CREATE SCHEMA failure (why STRING OPTIONAL);
CREATE SCHEMA key (site STRING);
CREATE SCHEMA key_too (site STRING);
CREATE BRANCH by_site SCHEMA key TTL 1h;
CREATE BRANCH by_other SCHEMA key TTL 1h;
CREATE BRANCH unused SCHEMA key TTL 1h;
CREATE WIRE JSON SCHEMA row_json MODE LOOSE (site string, n integer);
CREATE WIRE AVRO SCHEMA spare_avro MODE LOOSE (site STRING);
CREATE CODEC row_codec FROM WIRE JSON SCHEMA row_json TO SCHEMA row;
CREATE CODEC row_too FROM JSON TO SCHEMA row WITH JAQ TRANSFORMATIONS ON INGESTION '.' ON EMITTING '.';
CREATE CODEC proto FROM PROTOBUF USING RESOURCE files VERSION 1 CONFIG {} MESSAGE 'A' TO SCHEMA row WITH JAQ TRANSFORMATIONS ON INGESTION '.';
CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
CREATE CLIENT bus_too TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
CREATE CLIENT mounted TYPE NATS MOUNT files VERSION 1 CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
CREATE CLIENT store TYPE S3 CONFIG { 'region' = x };
CREATE CLIENT tables TYPE ICEBERG_REST CONFIG { 'uri' = 'http://h' };
CREATE VHOST host in.example.org;
CREATE VHOST secure tls.example.org WITH TLS files VERSION 1;
CREATE SIGNALING PROTOCOL login FORMAT JSON ON CONNECT SEND JAQ '.' TIMEOUT 1s;
CREATE ENDPOINT push ON host PATH '/x' TYPE HTTP;
CREATE HASH MAP sites KEY site FROM RESOURCE files VERSION 1 PATH 'sites' DECODE USING row_codec;
CREATE UDF twice WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN x * 2;';
CREATE UDF native WITH WASM_1 ARGS (x I64) RETURNS I64 USING RESOURCE files VERSION 1 FILE 'f.wasm' EXPORT 'f' MAX FUEL 1 MAX MEMORY 64KiB;
CREATE RELAY a SCHEMA row UNBRANCHED;
CREATE RELAY b SCHEMA row UNBRANCHED;
CREATE RELAY s SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE RELAY t SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE RELAY fails SCHEMA failure UNBRANCHED;
CREATE RELAY lost SCHEMA failure UNBRANCHED;
CREATE RELAY spare SCHEMA row BRANCHED BY by_site;
CREATE RELAY site SCHEMA row BRANCHED BY by_site;
CREATE RELAY site_out SCHEMA row BRANCHED BY by_site;
CREATE INGESTOR i FROM RANDOM SEED 7 MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND
  DECODE USING row_codec TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE INGESTOR listen FROM HTTP ENDPOINT push MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s
  DECODE USING row_codec TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO fails SET why = error.code;
CREATE JUNCTION two FROM a UNBRANCHED USING MATERIALIZED STATE s REQUIRED SKIP TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG TO t INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE JUNCTION branched FROM site BRANCHED BY by_site TO site_out INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE DEDUPLICATOR d FROM a DEDUPLICATE ON n MAX TIME 1m UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE REORDERER r FROM a BY n MAX TIME 1m UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE REINGESTOR re FROM a TO b INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE GENERATOR gen USING MATERIALIZED STATE s EACH 1s UNBRANCHED TO b SET site = 'x', n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE CORRELATOR c LEFT FROM a RIGHT FROM s CORRELATE WHERE left.n = right.n MATCH LATEST MAX TIME 1m ON CORRELATION TIMEOUT DROP, DROP UNBRANCHED TO b SET site = left.site, n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE WINDOW PROCESSOR w FROM a WIDTH 10 MESSAGES STEP 5 MESSAGES UNBRANCHED TO b SET site = 'x', n = COUNT(input.n) ON MESSAGE ERROR LOG;
CREATE INFERENCER f FROM a USING RESOURCE files VERSION 1 FILE 'm.onnx' INPUTS { 'x' DENSE TENSOR<F32>[] = n AS F32 } OUTPUT SCHEMA { 'score' DENSE TENSOR<F32>[] } UNBRANCHED TO b SET site = 'y', n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE WASM PROCESSOR g FROM a USING RESOURCE files VERSION 1 FILE 'g.wasm' MAX FUEL 1 MAX MEMORY 64KiB UNBRANCHED TO b ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG;
CREATE EMITTER e FROM b TO NATS bus SUBJECT x MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING row_codec INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE EMITTER lake FROM b TO ICEBERG ON S3 store TABLE t VALUES { 'n' = n } LOCATION 's3://l/t' CATALOG tables COMMIT EACH 1m MAX SIZE 1MiB MODE ACK RETRY POLICY BACKOFF 1s MAX 2s FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE PLACEMENT p FROM j TO e PREFER COLOCATION;`

// TestLevels is the table of chapter 40 section 8, over the changes of
// testdata/levels.txt.
func TestLevels(t *testing.T) {
	text, err := os.ReadFile("testdata/levels.txt")
	if err != nil {
		t.Fatal(err)
	}
	base := levelState(t)
	running := applied(t, base, &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}})
	for line := range strings.Lines(string(text)) {
		want, change, _ := strings.Cut(strings.TrimSpace(line), " ")
		if want == "" || want == "#" {
			continue
		}
		c := changed(t, running, change)
		got := c.Level(running).String()
		if same := slices.Equal(texts(c), texts(changed(t, running, ""))); same {
			got = "NONE"
		}
		if got != want {
			t.Errorf("%s: %s instead of %s", change, got, want)
		}
		if got := changed(t, base, change).Level(base); got != Dynamic {
			t.Errorf("%s: %v in a stopped domain", change, got)
		}
	}
}

// levelState is the base in a stopped domain, with the resources that it binds.
func levelState(t testing.TB) *catalog.State {
	state := catalog.New(primitives.UUID{1})
	state = applied(t, state, &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}})
	state = resources(state, "CREATE RESOURCE files; UPLOAD RESOURCE files VERSION 'COMPLETED'; UPLOAD RESOURCE files VERSION 'COMPLETED'; "+
		"CREATE RESOURCE certs; UPLOAD RESOURCE certs VERSION 'COMPLETED'")
	return applied(t, state, changed(t, state, levelBase).Step())
}

// changed is the candidate that statements make, which is valid.
func changed(t testing.TB, state *catalog.State, text string) *Candidate {
	c, _ := NewCandidate(state, "d")
	all, err := parse.Statements(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for i, s := range all {
		if err := mutate(c, s, i); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if invalid := c.Validate(); invalid != nil {
		t.Fatalf("%s: %v", text, invalid)
	}
	return c
}
