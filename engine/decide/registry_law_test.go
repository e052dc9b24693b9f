package decide

import (
	"fmt"
	"os"
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
	"plexus/nspl/vocab"
)

// registryOps are the operations that the laws draw from: the changes that are
// classified, which may take several statements, and the end and the beginning of
// everything that the base holds. Many do not fit what stands before them.
func registryOps(t testing.TB) (ops []string) {
	text, err := os.ReadFile("testdata/levels.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, change, ok := strings.Cut(strings.TrimSpace(line), " "); ok && line[0] != '#' {
			ops = append(ops, change)
		}
	}
	kinds := map[vocab.EntityKind]bool{}
	for _, create := range strings.Split(levelBase, ";\n") {
		entity, found := model.Lower(statement(create).(ast.Declaration))
		if len(found) > 0 {
			t.Fatal(found)
		}
		kinds[entity.Kind()] = true
		ops = append(ops, create, "DROP "+entity.Kind().String()+" "+entity.EntityName())
	}
	for _, kind := range append([]vocab.EntityKind{vocab.EntitySchema, vocab.EntityWireJSON, vocab.EntityWireAvro, vocab.EntityCodec, vocab.EntityBranch,
		vocab.EntityClient, vocab.EntityVHost, vocab.EntityEndpoint, vocab.EntitySignaling, vocab.EntityUDF, vocab.EntityPlacement}, operatorKinds...) {
		if !kinds[kind] {
			t.Errorf("no operation draws a %s", kind)
		}
	}
	return ops
}

// registry is the base as a running domain.
func registry(tb testing.TB) *catalog.State {
	state := levelState(tb)
	return applied(tb, state, &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{Domain: "d", Running: true}}})
}

func applied(tb interface{ Fatal(...any) }, state *catalog.State, step *catalogpb.Step) *catalog.State {
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

// mutateAll applies the statements of an operation, and reports whether all are
// accepted. One that is refused leaves the candidate as it was.
func mutateAll(t *rapid.T, c *Candidate, op string) bool {
	all, err := parse.Statements(op)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	for i, s := range all {
		before := fmt.Sprint(texts(c), c.Empty())
		if mutate(c, s, i) == nil {
			continue
		}
		if after := fmt.Sprint(texts(c), c.Empty()); after != before {
			t.Fatalf("statement %d of %s was refused and left\n%s\ninstead of\n%s", i, op, after, before)
		}
		return false
	}
	return true
}

// batched is the candidate of all operations together.
func batched(t *rapid.T, state *catalog.State, ops []string) *Candidate {
	batch, _ := NewCandidate(state, "d")
	for _, op := range ops {
		if !mutateAll(t, batch, op) {
			t.Fatalf("%s is refused in a batch of %v", op, ops)
		}
	}
	return batch
}

// accepted draws operations and keeps those that are valid where they stand,
// applied one by one; it returns what they leave.
func accepted(t *rapid.T, state *catalog.State, from []string) (ops []string, end *catalog.State) {
	for range rapid.IntRange(1, 12).Draw(t, "operations") {
		op := rapid.SampledFrom(from).Draw(t, "operation")
		c, _ := NewCandidate(state, "d")
		if !mutateAll(t, c, op) {
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
	state, all := registry(t), registryOps(t)
	rapid.Check(t, func(t *rapid.T) {
		ops, end := accepted(t, state, all)
		batch := batched(t, state, ops)
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
	state, all := registry(t), registryOps(t)
	rapid.Check(t, func(t *rapid.T) {
		ops, end := accepted(t, state, all)
		batch := batched(t, state, ops)
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
