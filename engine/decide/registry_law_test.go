package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/primitives"
)

// registryBase is the domain that the laws change.
const registryBase = `CREATE SCHEMA row (site STRING, n I64);
CREATE SCHEMA other (site STRING, n I64);
CREATE SCHEMA key (site STRING);
CREATE BRANCH by_site SCHEMA key TTL 1h;
CREATE RELAY a SCHEMA row UNBRANCHED;
CREATE RELAY b SCHEMA row UNBRANCHED;
CREATE RELAY c SCHEMA row UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE DEDUPLICATOR d FROM b DEDUPLICATE ON n MAX TIME 1m UNBRANCHED TO c INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG`

// registryOps are the operations that the laws draw from. Many do not fit what
// stands before them.
var registryOps = []string{
	"ALTER JUNCTION j ADD FROM c", "ALTER JUNCTION j DROP FROM a", "ALTER JUNCTION j SET DETACHED", "ALTER JUNCTION j SET ATTACHED",
	"ALTER JUNCTION j SET FILTER WHERE n > 1", "ALTER JUNCTION j DROP FILTER WHERE", "ALTER JUNCTION j ADD MATERIALIZED STATE c REQUIRED SKIP",
	"ALTER JUNCTION j DROP MATERIALIZED STATE c", "ALTER JUNCTION j SET COLLECT FOR 1s", "ALTER JUNCTION j DROP COLLECT",
	"ALTER JUNCTION j ADD ROUTE TO c INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "ALTER JUNCTION j DROP ROUTE TO c",
	"ALTER JUNCTION j SET BRANCHED BY by_site", "ALTER DEDUPLICATOR d SET MAX TIME 2m", "ALTER DEDUPLICATOR d SET MAX TIME 1m",
	"ALTER DEDUPLICATOR d SET DEDUPLICATE ON site", "ALTER DEDUPLICATOR d SET DEDUPLICATE ON n", "DROP DEDUPLICATOR d", "DROP JUNCTION j",
	"CREATE REORDERER r FROM b BY n MAX TIME 1s UNBRANCHED TO x INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG", "DROP REORDERER r",
	"CREATE RELAY x SCHEMA row UNBRANCHED", "DROP RELAY x", "ALTER RELAY a SET CAPACITY 4", "ALTER RELAY a SET CAPACITY 1",
	"ALTER RELAY a SET SCHEMA other", "ALTER RELAY c DROP MATERIALIZED STATE", "ALTER RELAY c SET MATERIALIZED STATE LAST BY TIMESTAMP",
	"CREATE JUNCTION j FROM a UNBRANCHED TO b INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE DEDUPLICATOR d FROM b DEDUPLICATE ON n MAX TIME 1m UNBRANCHED TO c INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"CREATE GENERATOR g USING MATERIALIZED STATE c EACH 1s UNBRANCHED TO x SET site = 's', n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
	"DROP GENERATOR g", "ALTER GENERATOR g SET EACH 2s", "DROP RELAY c", "DROP SCHEMA other",
	"CREATE PLACEMENT p FROM j TO d REQUIRE COLOCATION", "DROP PLACEMENT p",
}

// registry is the base as a running domain.
func registry(tb rapid.TB) *catalog.State {
	state := catalog.New(primitives.UUID{1})
	state = applied(tb, state, &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}})
	c, _ := NewCandidate(state, "d")
	for i, text := range strings.Split(registryBase, ";\n") {
		if err := mutate(c, statement(text), i); err != nil {
			tb.Fatal(err)
		}
	}
	state = applied(tb, state, c.Step())
	return applied(tb, state, &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}})
}

func applied(tb rapid.TB, state *catalog.State, step *catalogpb.Step) *catalog.State {
	next, result, _ := state.Apply(state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
	if result.Refused != nil {
		tb.Fatal(result.Refused)
	}
	return next
}

func statement(text string) ast.Statement {
	s, err := parse.Statement(text)
	if err != nil {
		panic(err)
	}
	return s
}

// texts is everything that a candidate defines.
func texts(c *Candidate) (list []string) {
	for i := range c.entries {
		list = append(list, render.Entity(c.entries[i].entity))
	}
	return list
}

// accepted draws operations and keeps those that are valid where they stand,
// applied one by one; it returns what they leave.
func accepted(t *rapid.T, state *catalog.State) (ops []string, end *catalog.State) {
	for range rapid.IntRange(1, 12).Draw(t, "operations") {
		op := rapid.SampledFrom(registryOps).Draw(t, "operation")
		c, _ := NewCandidate(state, "d")
		before := fmt.Sprint(texts(c), c.Empty())
		if mutate(c, statement(op), 0) != nil {
			if after := fmt.Sprint(texts(c), c.Empty()); after != before {
				t.Fatalf("%s was refused and left\n%s\ninstead of\n%s", op, after, before)
			}
			continue
		}
		if c.Validate() != nil {
			continue
		}
		ops = append(ops, op)
		if !c.Empty() {
			state = applied(t, state, c.Step())
		}
	}
	return ops, state
}

// TestRegistryBatch is the law registry-batch: applying a batch equals applying its
// operations one by one, when every prefix of it is valid; what is refused leaves
// the candidate as it was.
func TestRegistryBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := registry(t)
		ops, end := accepted(t, state)
		batch, _ := NewCandidate(state, "d")
		for i, op := range ops {
			if err := mutate(batch, statement(op), i); err != nil {
				t.Fatalf("%s: %v", op, err)
			}
		}
		if invalid := batch.Validate(); invalid != nil {
			t.Fatalf("%v: %v", ops, invalid)
		}
		single, _ := NewCandidate(end, "d")
		if got, want := texts(batch), texts(single); !slices.Equal(got, want) {
			t.Fatalf("the batch %v leaves\n%s\ninstead of\n%s", ops, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestRegistryDiff is the law registry-diff: what a change needs follows from the
// definitions before and after it, not from the statements that lead there.
func TestRegistryDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := registry(t)
		ops, end := accepted(t, state)
		batch, _ := NewCandidate(state, "d")
		for i, op := range ops {
			if err := mutate(batch, statement(op), i); err != nil {
				t.Fatal(err)
			}
		}
		// The same difference as drops and creates, each in any order.
		other, _ := NewCandidate(state, "d")
		var drops []catalog.Key
		var creates []model.Entity
		for m := range state.Models("d") {
			if kept, ok := end.Model("d", m.Key); !ok || !model.Equal(kept.Definition, m.Definition) {
				drops = append(drops, m.Key)
			}
		}
		for m := range end.Models("d") {
			if old, ok := state.Model("d", m.Key); !ok || !model.Equal(old.Definition, m.Definition) {
				creates = append(creates, m.Definition)
			}
		}
		for _, key := range rapid.Permutation(drops).Draw(t, "drops") {
			if d := other.Drop(key, ast.Head{}.Span); d != nil {
				t.Fatal(d)
			}
		}
		for i, e := range rapid.Permutation(creates).Draw(t, "creates") {
			if d := other.Create(e, ast.Head{}.Span, i); d != nil {
				t.Fatal(d)
			}
		}
		if !slices.Equal(texts(batch), texts(other)) {
			t.Fatalf("%v leaves other definitions", ops)
		}
		if a, b := batch.Level(state), other.Level(state); a != b {
			t.Fatalf("%v needs %v, and the same difference as drops and creates %v", ops, a, b)
		}
		if a, b := batch.Drains(state), other.Drains(state); a != b {
			t.Fatalf("%v drains: %t, and the same difference as drops and creates: %t", ops, a, b)
		}
	})
}
