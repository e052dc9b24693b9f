package decide

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/nspl/parse"
)

// tiedOps change what is tied together otherwise than by relays: functions, clients,
// endpoints, topics, lookups, placements of one strength.
var tiedOps = []string{
	"CREATE VHOST v a.example.org", "DROP VHOST v", "CREATE ENDPOINT e ON v PATH '/x' TYPE HTTP", "DROP ENDPOINT e",
	"CREATE ENDPOINT d ON v PATH '/x' TYPE HTTP", "DROP ENDPOINT d", "CREATE ENDPOINT f ON v PATH '/y' TYPE HTTP", "DROP ENDPOINT f",
	"CREATE WIRE JSON SCHEMA w MODE LOOSE (site string, n integer)", "DROP WIRE JSON SCHEMA w", "CREATE CODEC k FROM WIRE JSON SCHEMA w TO SCHEMA row", "DROP CODEC k",
	"CREATE INGESTOR h FROM ENDPOINT e MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR h FROM HTTP PUSH e MAX PENDING 1 MAX SIZE 1MB MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR h FROM KAFKA grid TOPIC t OFFSET BY DOMAIN MODE NO_ACK PARALLEL ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR h FROM KAFKA grid2 TOPIC t OFFSET BY CONSUMER GROUP g MODE NO_ACK PARALLEL ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR i FROM ENDPOINT e MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR i FROM HTTP PUSH e MAX PENDING 1 MAX SIZE 1MB MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR i FROM KAFKA grid TOPIC t OFFSET BY DOMAIN MODE NO_ACK PARALLEL ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"CREATE INGESTOR i FROM KAFKA grid2 TOPIC t OFFSET BY CONSUMER GROUP g MODE NO_ACK PARALLEL ON QUIESCE SUSPEND DECODE USING k TO a INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG",
	"DROP INGESTOR i",
	"DROP INGESTOR h",
	"DROP CLIENT grid2",
	"CREATE CLIENT grid2 TYPE KAFKA CONFIG {'bootstrap.servers' = 'b:9092'}",
	"CREATE CLIENT grid2 TYPE KAFKA CONFIG {'bootstrap.servers' = 'a:9092'}",
	"CREATE UDF one WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN udf::two(x);'", "CREATE UDF two WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN udf::one(x);'",
	"CREATE UDF two WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN x;'", "CREATE UDF two WITH NSPL_1 ARGS (x STRING) RETURNS I64 CODE 'RETURN 1;'",
	"DROP UDF one", "DROP UDF two", "ALTER JUNCTION j SET FILTER WHERE udf::one(n) > 1", "ALTER JUNCTION j SET FILTER WHERE udf::two(n) > 1",
	"CREATE PLACEMENT q FROM j TO d NEUTRAL", "CREATE PLACEMENT q FROM j TO b NEUTRAL RANK 2", "DROP PLACEMENT q", "DROP RELAY b", "CREATE RELAY b SCHEMA row UNBRANCHED",
	"CREATE RELAY b SCHEMA key UNBRANCHED", "DROP SCHEMA row", "CREATE SCHEMA row (site STRING, n I64)", "CREATE SCHEMA row (site STRING)",
	"CREATE JUNCTION back FROM s UNBRANCHED TO a INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE DETACHED JUNCTION back FROM s UNBRANCHED TO a INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "DROP JUNCTION back", "CREATE JUNCTION a FROM b UNBRANCHED TO s INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "DROP JUNCTION a",
}

// tiedBase is what stands beside the base of the registry.
const tiedBase = `CREATE VHOST v a.example.org; CREATE ENDPOINT e ON v PATH '/x' TYPE HTTP;
CREATE WIRE JSON SCHEMA w MODE LOOSE (site string, n integer); CREATE CODEC k FROM WIRE JSON SCHEMA w TO SCHEMA row;
CREATE CLIENT grid TYPE KAFKA CONFIG {'bootstrap.servers' = 'a:9092'}; CREATE CLIENT grid2 TYPE KAFKA CONFIG {'bootstrap.servers' = 'b:9092'};
CREATE UDF two WITH NSPL_1 ARGS (x I64) RETURNS I64 CODE 'RETURN x;'`

// verdict is what judging comes to, for comparison.
func verdict(found []*Invalid) string {
	if len(found) == 0 {
		return "sound"
	}
	text := fmt.Sprint(found[0].Statement)
	for _, d := range found[0].Found {
		text += fmt.Sprintf("\n%s %v %v %s", d, d.Span, d.Entity, d.Hint)
	}
	return text
}

// TestScope is the law that a batch on sound definitions is judged by what it
// touches exactly as by everything, that taking it back leaves what was there, and
// that going on from it equals a new candidate.
func TestScope(t *testing.T) {
	ops, base := slices.Concat(registryOps(t), tiedOps, tiedOps), tiedRegistry(t)
	rapid.Check(t, func(t *rapid.T) {
		state := base
		kept, _ := NewCandidate(state, "d")
		kept.tied()
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			before := fmt.Sprint(texts(kept))
			c, _ := NewCandidate(state, "d")
			n := 0
			for range rapid.IntRange(1, 4).Draw(t, "operations") {
				all, err := parse.Statements(rapid.SampledFrom(ops).Draw(t, "operation"))
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range all {
					fresh, long := mutate(c, x, n), mutate(kept, x, n)
					if fmt.Sprint(fresh) != fmt.Sprint(long) {
						t.Fatalf("a new candidate says %v, a kept one %v", fresh, long)
					}
					n++
				}
			}
			whole := verdict(c.judge(everything, 1))
			for _, got := range []string{verdict(c.judge(c.scope(), 1)), verdict(c.Faults()), verdict(kept.judge(kept.scope(), 1))} {
				if got != whole {
					t.Fatalf("judged by what is touched:\n%s\nby everything:\n%s", got, whole)
				}
			}
			if whole == "sound" && mustCandidate(t, state).Available() == nil {
				if got, want := verdictOf(c.AvailableChange()), verdictOf(c.Available()); got != want {
					t.Fatalf("available by its scope: %s, by everything: %s", got, want)
				}
			}
			if whole != "sound" {
				kept.Revert()
				if after := fmt.Sprint(texts(kept)); after != before {
					t.Fatalf("taking back left\n%s\nof\n%s", after, before)
				}
				continue
			}
			if !c.Empty() {
				state = applied(t, state, c.Step())
			}
			kept.Committed(state)
			if a, b := fmt.Sprint(texts(mustCandidate(t, state))), fmt.Sprint(texts(kept)); a != b {
				t.Fatalf("a new candidate has\n%s\na kept one\n%s", a, b)
			}
		}
	})
}

func tiedRegistry(t testing.TB) *catalog.State {
	state := registry(t)
	c := mustCandidate(t, state)
	all, err := parse.Statements(tiedBase)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range all {
		if err := mutate(c, s, i); err != nil {
			t.Fatal(err)
		}
	}
	if invalid := c.Validate(); invalid != nil {
		t.Fatal(invalid)
	}
	return applied(t, state, c.Step())
}

func verdictOf(invalid *Invalid) string {
	if invalid == nil {
		return verdict(nil)
	}
	return verdict([]*Invalid{invalid})
}

func mustCandidate(t interface{ Fatal(...any) }, state *catalog.State) *Candidate {
	c, missing := NewCandidate(state, "d")
	if missing != nil {
		t.Fatal(missing)
	}
	return c
}
