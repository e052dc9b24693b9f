package catalog

import (
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

var someNames = []string{"a", "b", "c"}

func drawName(t *rapid.T, label string) string { return rapid.SampledFrom(someNames).Draw(t, label) }

// drawStep draws any step, often one that is refused. Half of the model batches
// expect the right revision.
func drawStep(t *rapid.T, s *State) *catalogpb.Step {
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0:
		return &catalogpb.Step{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: drawName(t, "user"), PasswordHash: "x"}}}
	case 1:
		return &catalogpb.Step{Body: &catalogpb.Step_DropUser{DropUser: &catalogpb.DropUser{Name: drawName(t, "user")}}}
	case 2, 3:
		return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: drawName(t, "domain")}}}
	case 4:
		return &catalogpb.Step{Body: &catalogpb.Step_DropDomain{DropDomain: &catalogpb.DropDomain{Name: drawName(t, "domain")}}}
	case 5:
		return &catalogpb.Step{Body: &catalogpb.Step_SetRunning{SetRunning: &catalogpb.SetRunning{
			Domain: drawName(t, "domain"), Running: rapid.Bool().Draw(t, "running")}}}
	case 6:
		return &catalogpb.Step{Body: &catalogpb.Step_Reclaim{Reclaim: &catalogpb.Reclaim{Before: rapid.Int64Range(0, 40).Draw(t, "before") * 1e6}}}
	case 7:
		return &catalogpb.Step{}
	default:
		return drawModels(t, s)
	}
}

func drawModels(t *rapid.T, s *State) *catalogpb.Step {
	change := &catalogpb.ChangeModels{Domain: drawName(t, "domain")}
	if d, ok := s.Domain(change.Domain); ok && rapid.Bool().Draw(t, "current") {
		change.Expected = d.Definition
	}
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		name := drawName(t, "schema")
		c := &catalogpb.ModelChange{Kind: "SCHEMA", Name: name, Text: "CREATE SCHEMA " + name + " (x U8);"}
		if rapid.IntRange(0, 2).Draw(t, "drop") == 0 {
			c.Op, c.Text = catalogpb.ModelChange_DROP, ""
		}
		change.Changes = append(change.Changes, c)
	}
	return &catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: change}}
}

func drawCommand(t *rapid.T, s *State, n uint64) *catalogpb.Command {
	c := &catalogpb.Command{Sequence: n, At: rapid.Int64Range(0, 40).Draw(t, "at") * 1e6}
	if rapid.Bool().Draw(t, "referenced") {
		reference := primitives.UUID{}
		binary.BigEndian.PutUint16(reference[4:], uint16(rapid.IntRange(0, 40).Draw(t, "reference")))
		c.Execution = &catalogpb.Execution{Reference: reference[:], Owner: "u", Digest: []byte("d"), Reply: []byte("r")}
	}
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		c.Steps = append(c.Steps, drawStep(t, s))
	}
	return c
}

func reload(t *rapid.T, s *State, sectionBytes int) *State {
	var l Loader
	for section, err := range s.Sections(sectionBytes) {
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Add(section); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func digest(t *rapid.T, s *State) [32]byte {
	d, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The same log gives the same state, wherever snapshots cut it (C3).
func TestStateApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		straight := New(primitives.UUID{7})
		cut := New(primitives.UUID{7})
		for i := range rapid.Uint64Range(1, 30).Draw(t, "commands") {
			command := drawCommand(t, straight, i)
			encoded, err := Encode(command)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := Decode(encoded)
			if err != nil || !proto.Equal(command, decoded) {
				t.Fatalf("command does not survive its encoding: %v", err)
			}
			before := digest(t, straight)
			next, result, effects := straight.Apply(i+2, command)
			if digest(t, straight) != before {
				t.Fatal("apply changed the state it started from")
			}
			if rapid.IntRange(0, 3).Draw(t, "snapshot") == 0 {
				cut = reload(t, cut, rapid.IntRange(1, 400).Draw(t, "section"))
			}
			other, sameResult, sameEffects := cut.Apply(i+2, decoded)
			if digest(t, next) != digest(t, other) {
				t.Fatal("states differ")
			}
			if (result.Refused == nil) != (sameResult.Refused == nil) || len(effects.Domains) != len(sameEffects.Domains) {
				t.Fatalf("results differ: %+v %+v", result, sameResult)
			}
			straight, cut = next, other
		}
	})
}

// A refused single step leaves nothing but its record (C2), and a reference
// applies once (C4).
func TestStateRefusalAndReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(primitives.UUID{7})
		for i := range rapid.Uint64Range(1, 20).Draw(t, "commands") {
			command := drawCommand(t, s, i)
			command.Steps = command.Steps[:1]
			next, result, _ := s.Apply(i+2, command)
			if result.Refused != nil || result.Known != nil {
				if next.users != s.users || next.domains != s.domains || next.models != s.models {
					t.Fatalf("refused, yet the state changed: %v", result.Refused)
				}
			}
			if x := command.GetExecution(); x != nil && result.Known == nil && (result.Refused == nil || result.Refused.Code != ReferenceExpired && result.Refused.Code != Conflict) {
				again, second, _ := next.Apply(i+3, command)
				_, kept := next.Execution(primitives.UUID(x.GetReference()))
				if !kept {
					t.Fatal("outcome not retained")
				}
				if second.Known == nil || again.models != next.models || again.domains != next.domains || again.users != next.users {
					t.Fatal("a reference applied twice")
				}
			}
			s = next
		}
	})
}

func TestTreeAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr tree[int]
		model := map[string]int{}
		keys := rapid.StringMatching(`[ab]{0,3}`)
		for i := range rapid.IntRange(0, 60).Draw(t, "ops") {
			key := keys.Draw(t, "key")
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				tr = tr.delete(key)
				delete(model, key)
			} else {
				tr = tr.set(key, i)
				model[key] = i
			}
			start := keys.Draw(t, "start")
			var got []string
			for k, v := range tr.from(start) {
				if model[k] != v {
					t.Fatalf("key %q holds %d, want %d", k, v, model[k])
				}
				got = append(got, k)
			}
			var want []string
			for _, k := range primitives.SortedKeys(model) {
				if k >= start {
					want = append(want, k)
				}
			}
			if len(got) != len(want) || tr.len() != len(model) {
				t.Fatalf("got %q want %q", got, want)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("got %q want %q", got, want)
				}
			}
		}
	})
}

func TestDecodeRefusesUnknownFields(t *testing.T) {
	b, err := Encode(&catalogpb.Command{Steps: []*catalogpb.Step{{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(append(b, 0xfa, 0x3f, 0x01, 'x')); err == nil {
		t.Fatal("an unknown field was accepted")
	}
}

func FuzzCommand(f *testing.F) {
	b, err := Encode(&catalogpb.Command{Steps: []*catalogpb.Step{
		{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}},
		{Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "d", Expected: 2, Changes: []*catalogpb.ModelChange{
			{Kind: "SCHEMA", Name: "s", Text: "CREATE SCHEMA s (x U8);"}}}}},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		command, err := Decode(b)
		if err != nil {
			return
		}
		s := New(primitives.UUID{7})
		for i := range uint64(3) {
			s, _, _ = s.Apply(i+2, command)
		}
		if _, err := s.Digest(); err != nil {
			t.Fatal(err)
		}
	})
}
