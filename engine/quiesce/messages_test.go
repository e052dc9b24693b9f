package quiesce

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/engine/strict"
	"plexus/nspl/vocab"
)

func drawEntity(t *rapid.T) Entity {
	kind := rapid.SampledFrom([]vocab.EntityKind{vocab.EntityRelay, vocab.EntityIngestor, vocab.EntityJunction, vocab.EntityEmitter}).Draw(t, "kind")
	return Entity{kind, rapid.StringMatching(`[a-z_]{1,8}`).Draw(t, "name")}
}

func drawBytes[T [16]byte | [32]byte](t *rapid.T, label string) (v T) {
	b := rapid.SliceOfN(rapid.Byte(), len(v), len(v)).Draw(t, label)
	return T(b)
}

func drawScope(t *rapid.T) Scope {
	s := Scope{
		Domain:  rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "domain"),
		Purpose: Purpose(rapid.IntRange(int(ForChange), int(ForStop)).Draw(t, "purpose")),
		Index:   rapid.Uint64().Draw(t, "index"), Whole: rapid.Bool().Draw(t, "whole"), Force: rapid.Bool().Draw(t, "force"),
		Gates:   rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,4}`), 0, 4).Draw(t, "gates"),
		Sources: rapid.SliceOfN(rapid.Custom(drawEntity), 0, 4).Draw(t, "sources"),
		Drain:   rapid.SliceOfN(rapid.Custom(drawEntity), 0, 4).Draw(t, "drain"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "branches") {
		s.Branches = append(s.Branches, drawBytes[[32]byte](t, "branch"))
	}
	return s.Canonical()
}

func TestMessagesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &request{
			ID:    ID{rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "node"), drawBytes[[16]byte](t, "epoch"), rapid.Uint64Min(1).Draw(t, "sequence")},
			Floor: rapid.Uint64().Draw(t, "floor"), Generation: rapid.Uint64().Draw(t, "generation"), Freeze: rapid.Bool().Draw(t, "freeze"),
			Lease: time.Duration(rapid.Int64Min(0).Draw(t, "lease")),
		}
		if rapid.Bool().Draw(t, "scoped") {
			r.Scope = drawScope(t)
		}
		b, err := encodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRequest(b)
		if err != nil || got.ID != r.ID || !got.Scope.equal(r.Scope) || got.Lease != r.Lease || got.Floor != r.Floor || got.Generation != r.Generation || got.Freeze != r.Freeze {
			t.Fatalf("%+v %v, want %+v", got, err, r)
		}
		a := &answer{Epoch: drawBytes[[16]byte](t, "epoch"), Freeze: rapid.Uint64().Draw(t, "freeze"), Left: time.Duration(rapid.Int64Min(0).Draw(t, "left"))}
		if rapid.Bool().Draw(t, "refused") {
			a = &answer{Refused: &Refusal{Reason(rapid.IntRange(int(NotOwner), int(Malformed)).Draw(t, "reason")), "why"}}
		} else {
			a.Look = Look{Flushed: rapid.Uint64().Draw(t, "flushed"), Admitted: rapid.Uint64().Draw(t, "admitted"), Parked: 1, Obligations: 2}
			for range rapid.IntRange(0, 3).Draw(t, "blockers") {
				a.Look.Blockers = append(a.Look.Blockers, Blocker{drawEntity(t), Work(rapid.IntRange(int(Roots), int(Publishes)).Draw(t, "work")), rapid.Uint64Min(1).Draw(t, "count")})
			}
		}
		if b, err = encodeAnswer(a); err != nil {
			t.Fatal(err)
		}
		if back, err := decodeAnswer(b); err != nil || !reflect.DeepEqual(back, a) {
			t.Fatalf("%+v %v, want %+v", back, err, a)
		}
	})
}

// FuzzHoldMessage: bytes of a peer are refused with an error or mean exactly what
// they are encoded to again.
func FuzzHoldMessage(f *testing.F) {
	scope := Scope{Domain: "d", Purpose: ForHandoff, Gates: []string{"r"}, Sources: []Entity{{vocab.EntityIngestor, "feed"}}, Branches: [][32]byte{{1}}}
	seeds := []*request{{ID: ID{"n", [16]byte{1}, 7}, Scope: scope, Lease: time.Minute}, {ID: ID{"n", [16]byte{1}, 7}, Generation: 3, Freeze: true, Floor: 2}}
	for _, r := range seeds {
		b, err := encodeRequest(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, err := encodeAnswer(&answer{Look: Look{Flushed: 3, Blockers: []Blocker{{Entity{vocab.EntityEmitter, "out"}, Publishes, 3}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRequest(b); err == nil {
			again, err := encodeRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodeRequest(again); err != nil || !reflect.DeepEqual(back, r) {
				t.Fatalf("%+v became %+v, %v", r, back, err)
			}
		} else if !errors.Is(err, strict.ErrFormat) {
			t.Fatalf("an untyped refusal: %v", err)
		}
		if a, err := decodeAnswer(b); err == nil {
			again, err := encodeAnswer(a)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decodeAnswer(again); err != nil {
				t.Fatal(err)
			}
		} else if !errors.Is(err, strict.ErrFormat) {
			t.Fatalf("an untyped refusal: %v", err)
		}
	})
}

func TestEqualScopesAreEncodedEqually(t *testing.T) {
	a := Scope{Domain: "d", Purpose: ForChange, Gates: []string{"b", "a", "b"}, Drain: []Entity{{vocab.EntityRelay, "z"}, {vocab.EntityIngestor, "a"}}}
	b := Scope{Domain: "d", Purpose: ForChange, Gates: []string{"a", "b"}, Drain: []Entity{{vocab.EntityIngestor, "a"}, {vocab.EntityRelay, "z"}}}
	encode := func(s Scope) []byte {
		out, err := encodeRequest(&request{ID: ID{"n", [16]byte{}, 1}, Scope: s.Canonical()})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !bytes.Equal(encode(a), encode(b)) {
		t.Error("equal scopes differ")
	}
	loose, err := encodeRequest(&request{ID: ID{"n", [16]byte{}, 1}, Scope: a})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeRequest(loose); !errors.Is(err, strict.ErrFormat) {
		t.Errorf("a scope out of order: %v", err)
	}
}
