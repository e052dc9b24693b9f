package decide

import (
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
CREATE BRANCH by_site SCHEMA key TTL 1h;
CREATE WIRE JSON SCHEMA row_json MODE LOOSE (site string, n integer);
CREATE CODEC row_codec FROM WIRE JSON SCHEMA row_json TO SCHEMA row;
CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
CREATE VHOST host in.example.org;
CREATE ENDPOINT push ON host PATH '/x' TYPE HTTP;
CREATE RELAY a SCHEMA row UNBRANCHED;
CREATE RELAY b SCHEMA row UNBRANCHED;
CREATE RELAY s SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE RELAY t SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE RELAY fails SCHEMA failure UNBRANCHED;
CREATE RELAY lost SCHEMA failure UNBRANCHED;
CREATE INGESTOR i FROM RANDOM SEED 7 MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND
  DECODE USING row_codec TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO fails SET why = error.code;
CREATE DEDUPLICATOR d FROM a DEDUPLICATE ON n MAX TIME 1m UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE REORDERER r FROM a BY n MAX TIME 1m UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE REINGESTOR re FROM a TO b INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE GENERATOR g USING MATERIALIZED STATE s EACH 1s UNBRANCHED TO b SET site = 'x', n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE CORRELATOR c LEFT FROM a RIGHT FROM s CORRELATE WHERE left.n = right.n MATCH LATEST MAX TIME 1m ON CORRELATION TIMEOUT DROP, DROP UNBRANCHED TO b SET site = left.site, n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE WINDOW PROCESSOR w FROM a WIDTH 10 MESSAGES STEP 5 MESSAGES UNBRANCHED TO b SET site = 'x', n = COUNT(input.n) ON MESSAGE ERROR LOG;
CREATE EMITTER e FROM b TO NATS bus SUBJECT x MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING row_codec INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE PLACEMENT p FROM j TO e PREFER COLOCATION;`

const (
	levelRoute      = " UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG"
	levelCorrelator = "DROP CORRELATOR c; CREATE CORRELATOR c LEFT FROM a RIGHT FROM s "
	levelWindow     = "DROP WINDOW PROCESSOR w; CREATE WINDOW PROCESSOR w FROM a"
)

// TestLevels is the table "Quiesce level of a change".
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		want    Level
		changes []string
	}{
		{Dynamic, []string{
			"ALTER RELAY a SET CAPACITY 4",
			"ALTER JUNCTION j SET FILTER WHERE n > 1",
			"ALTER JUNCTION j ALTER FROM a SET WHERE input.n > 1",
			"ALTER JUNCTION j SET COLLECT FOR 1s",
			"ALTER JUNCTION j REPLACE ROUTE TO b INHERIT ALL WHERE n > 1 FLUSH EACH 1s MAX BATCH SIZE 1MB ON MESSAGE ERROR SEND TO fails SET why = error.message",
			"ALTER JUNCTION j SET ATTACHED",
			"ALTER JUNCTION j SET DETACHED, SET ATTACHED",
			"ALTER DEDUPLICATOR d SET MAX TIME 2m",
			"ALTER DEDUPLICATOR d REPLACE ROUTE TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE",
			"ALTER REORDERER r SET MAX TIME 2m",
			levelCorrelator + "CORRELATE WHERE left.n = right.n MATCH LATEST MAX TIME 2m ON CORRELATION TIMEOUT DROP, DROP UNBRANCHED TO b SET site = left.site, n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			levelWindow + " WHERE input.n > 1 WIDTH 10 MESSAGES STEP 5 MESSAGES UNBRANCHED TO b SET site = 'x', n = COUNT(input.n) WHERE output.n > 1 ON MESSAGE ERROR LOG",
			"ALTER EMITTER e SET FLUSH EACH 1s MAX BATCH SIZE 1MB",
			"ALTER PLACEMENT p SET RANK 2",
			"DROP JUNCTION j; DROP PLACEMENT p",
			"CREATE JUNCTION k FROM a" + levelRoute,
			"DROP JUNCTION j; CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO fails SET why = error.code",
		}},
		{EntityPause, []string{
			"ALTER RELAY a SET MATERIALIZED STATE LAST BY TIMESTAMP",
			"ALTER JUNCTION j ADD FROM s",
			"ALTER JUNCTION j ADD ROUTE TO t INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			"ALTER JUNCTION j REPLACE ROUTE TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO lost SET why = error.code",
			"ALTER JUNCTION j REPLACE ROUTE TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			"ALTER JUNCTION j SET DETACHED",
			"ALTER JUNCTION j ADD MATERIALIZED STATE s REQUIRED SKIP",
			"ALTER DEDUPLICATOR d SET DEDUPLICATE ON site",
			"ALTER REORDERER r SET BY site, n",
			"ALTER REINGESTOR re SET FILTER WHERE n > 1",
			"ALTER GENERATOR g SET EACH 2s",
			"ALTER INGESTOR i SET TIMESTAMP NOW",
			"ALTER INGESTOR i SET FILTER WHERE n > 1",
			levelCorrelator + "CORRELATE WHERE left.n = right.n MATCH EARLIEST MAX TIME 1m ON CORRELATION TIMEOUT DROP, DROP UNBRANCHED TO b SET site = left.site, n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			levelCorrelator + "CORRELATE WHERE left.n = right.n MATCH LATEST MAX TIME 1m ON CORRELATION TIMEOUT DROP, SEND TO t UNBRANCHED TO b SET site = left.site, n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
			levelWindow + " WIDTH 20 MESSAGES STEP 5 MESSAGES UNBRANCHED TO b SET site = 'x', n = COUNT(input.n) ON MESSAGE ERROR LOG",
			levelWindow + " WIDTH 10 MESSAGES STEP 5 MESSAGES UNBRANCHED TO b SET site = 'x', n = MAX(input.n) ON MESSAGE ERROR LOG",
			"ALTER EMITTER e ALTER FROM b SET WHERE input.n > 1",
			"ALTER EMITTER e SET DETACHED",
			"ALTER EMITTER e SET COLLECT FOR 1s",
			"ALTER EMITTER e SET BATCH MAX MESSAGES 5 MAX SIZE 1MB",
			"ALTER EMITTER e SET MODE JETSTREAM ACK SEQUENTIAL ACK TIMEOUT 1s RETRY POLICY BACKOFF 1s MAX 2s",
			"ALTER JUNCTION j SET FILTER WHERE n > 1, SET DETACHED",
		}},
		{DomainPause, []string{
			"ALTER RELAY t SET SCHEMA other",
			"DROP SCHEMA other; CREATE SCHEMA other (site STRING, m I64)",
			"DROP BRANCH by_site; CREATE BRANCH by_site SCHEMA key TTL 2h",
			"ALTER RELAY lost SET BRANCHED BY by_site",
			"ALTER EMITTER e ADD FROM t",
			"DROP CLIENT bus; CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4223' }",
			"DROP WIRE JSON SCHEMA row_json; CREATE WIRE JSON SCHEMA row_json MODE STRICT (site string, n integer)",
			"DROP ENDPOINT push; CREATE ENDPOINT push ON host PATH '/y' TYPE HTTP",
			"DROP VHOST host; CREATE VHOST host out.example.org",
			"ALTER JUNCTION j SET DETACHED; ALTER RELAY t SET SCHEMA other",
		}},
	} {
		for _, change := range c.changes {
			if got := levelOf(t, change, true); got != c.want {
				t.Errorf("%s: %v instead of %v", change, got, c.want)
			}
			if got := levelOf(t, change, false); got != Dynamic {
				t.Errorf("%s: %v in a stopped domain", change, got)
			}
		}
	}
}

// levelOf classifies a change of the base.
func levelOf(t *testing.T, change string, running bool) Level {
	state := catalog.New(primitives.UUID{1})
	state = applied(t, state, &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}})
	state = applied(t, state, changed(t, state, levelBase).Step())
	if running {
		state = applied(t, state, &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}})
	}
	return changed(t, state, change).Level(state)
}

// changed is the candidate that statements make, which is valid.
func changed(t *testing.T, state *catalog.State, text string) *Candidate {
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
