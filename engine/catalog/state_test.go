package catalog

import (
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// drawExecution moves a reference on from the phase it is in, mostly.
func drawExecution(t *rapid.T, s *State, reference primitives.UUID) *catalogpb.Execution {
	x := &catalogpb.Execution{Reference: reference[:], Owner: "u", Digest: []byte("d"), Reply: []byte("r")}
	if known, ok := s.Execution(reference); ok && rapid.Bool().Draw(t, "go on") {
		x.From = catalogpb.Phase(known.Phase)
	} else if rapid.IntRange(0, 9).Draw(t, "wrong phase") == 0 {
		x.From = catalogpb.Phase_EFFECTIVE
	}
	x.To = x.From + catalogpb.Phase(rapid.IntRange(0, 3).Draw(t, "phases"))
	if x.To == catalogpb.Phase_ADMITTED {
		x.Work = []byte("w")
	}
	if x.To == catalogpb.Phase_EFFECTIVE {
		x.Awaits = []string{"a"}
	}
	return x
}

func drawCommand(t *rapid.T, s *State, n uint64) *catalogpb.Command {
	c := &catalogpb.Command{Sequence: n, At: rapid.Int64Range(0, 40).Draw(t, "at") * 1e6}
	if rapid.Bool().Draw(t, "referenced") {
		reference := primitives.UUID{}
		binary.BigEndian.PutUint16(reference[4:], uint16(rapid.IntRange(0, 40).Draw(t, "reference")))
		c.Execution = drawExecution(t, s, reference)
	}
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		c.Steps = append(c.Steps, drawStep(t, s))
	}
	return c
}

// reloadAndCompare checks that a state survives its snapshot.
func reloadAndCompare(t rapid.TB, s *State, sectionBytes int) *State {
	loaded := reload(t, s, sectionBytes)
	if digest(t, loaded) != digest(t, s) {
		t.Fatal("a loaded snapshot is another state")
	}
	return loaded
}

func reload(t rapid.TB, s *State, sectionBytes int) *State {
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

func digest(t rapid.TB, s *State) [32]byte {
	d, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The same log gives the same state, wherever snapshots cut it (C3).
func TestStateApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		straight := drawStart(t)
		cut := straight
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
			next, result, effects := straight.Apply(i+startIndex, command)
			if digest(t, straight) != before {
				t.Fatal("apply changed the state it started from")
			}
			if rapid.IntRange(0, 3).Draw(t, "snapshot") == 0 {
				cut = reloadAndCompare(t, cut, rapid.IntRange(1, 400).Draw(t, "section"))
			}
			other, sameResult, sameEffects := cut.Apply(i+startIndex, decoded)
			if digest(t, next) != digest(t, other) {
				t.Fatal("states differ")
			}
			if (result.Refused == nil) != (sameResult.Refused == nil) || len(effects.Domains) != len(sameEffects.Domains) {
				t.Fatalf("results differ: %+v %+v", result, sameResult)
			}
			if err := next.Coherent(); err != nil {
				t.Fatal(err)
			}
			straight, cut = next, other
		}
	})
}

// A refused command leaves nothing but its record (C2), and a reference
// applies once (C4).
func TestStateRefusalAndReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStart(t)
		for i := range rapid.Uint64Range(1, 20).Draw(t, "commands") {
			command := drawCommand(t, s, i)
			next, result, _ := s.Apply(i+startIndex, command)
			if result.Refused != nil || result.Known != nil {
				if !sameTrees(next, s) {
					t.Fatalf("refused, yet the state changed: %v", result.Refused)
				}
			}
			if x := command.GetExecution(); x != nil && result.Refused == nil {
				again, second, _ := next.Apply(i+startIndex+1, command)
				if _, kept := next.Execution(primitives.UUID(x.GetReference())); !kept {
					t.Fatal("outcome not retained")
				}
				if second.Known == nil && (second.Refused == nil || !second.Refused.Stale) || !sameTrees(again, next) {
					t.Fatalf("a reference applied twice: %v", second)
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
