package handoff

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/engine/strict"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

func drawProcess(t *rapid.T) quiesce.Process {
	return quiesce.Process{
		Node: rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "node"), RaftID: rapid.Uint64().Draw(t, "raft id"),
		Counter: rapid.Uint64().Draw(t, "counter"), Epoch: [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "epoch")),
	}
}

func drawEntity(t *rapid.T) quiesce.Entity {
	kind := rapid.SampledFrom([]vocab.EntityKind{vocab.EntityRelay, vocab.EntityIngestor, vocab.EntityJunction, vocab.EntityEmitter}).Draw(t, "kind")
	return quiesce.Entity{Kind: kind, Name: rapid.StringMatching(`[a-z_]{1,8}`).Draw(t, "name")}
}

func drawBinding(t *rapid.T) Binding {
	return Binding{
		Coordinator: drawProcess(t), Sequence: rapid.Uint64().Draw(t, "sequence"), Domain: rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "domain"),
		Transition: primitives.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "transition")), Entity: drawEntity(t),
		Source: drawProcess(t), Destination: drawProcess(t), Base: rapid.Uint64().Draw(t, "base"),
		Target: [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "target")),
	}
}

func drawRef(t *rapid.T) state.Ref {
	e := drawEntity(t)
	return state.Ref{
		Placement: state.Placement{Identity: state.Identity{
			Domain: "orders", Entity: e.Kind.Snake(), Name: e.Name,
			Component: state.Component(rapid.IntRange(int(state.SourceCursor), int(state.GuestState)).Draw(t, "component")),
		}},
		Revision: rapid.Uint64().Draw(t, "revision"), Fence: rapid.Uint64().Draw(t, "fence"), Length: rapid.Uint64Max(1<<30).Draw(t, "length"),
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]Operation{Capture, Prepare, Confirm, Discard, Reconcile, StateCatalog}).Draw(t, "operation")
		want := &request{Within: time.Duration(rapid.Int64Min(0).Draw(t, "within"))}
		switch op {
		case Reconcile:
			want.Index = rapid.Uint64().Draw(t, "index")
		case StateCatalog:
			want.Domain, want.Entity = "orders", drawEntity(t)
		default:
			want.Binding, want.Freeze = drawBinding(t), rapid.Uint64().Draw(t, "freeze")
			for range rapid.IntRange(0, 3).Draw(t, "origins") {
				want.Origins = append(want.Origins, Origin{drawRef(t), "a"})
			}
		}
		b, err := encodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeRequest(op, b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v %v, want %+v", got, err, want)
		}
		a := &answer{Process: drawProcess(t)}
		if rapid.Bool().Draw(t, "refused") {
			a = &answer{Refused: &Refusal{Reason(rapid.IntRange(int(OtherProcess), int(Malformed)).Draw(t, "reason")), "why"}}
		} else {
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				a.Refs = append(a.Refs, drawRef(t))
				a.Listed = append(a.Listed, Listed{drawBinding(t), rapid.Bool().Draw(t, "held"), rapid.Bool().Draw(t, "committed")})
			}
		}
		if b, err = encodeAnswer(a); err != nil {
			t.Fatal(err)
		}
		if got, err := decodeAnswer(b); err != nil || !reflect.DeepEqual(got, a) {
			t.Fatalf("%+v %v, want %+v", got, err, a)
		}
		p := &preparation{binding: drawBinding(t), refs: a.Refs}
		if b, err = p.encode(); err != nil {
			t.Fatal(err)
		}
		got, err := decodePreparation("manifest", b)
		if err != nil || got.binding != p.binding || !reflect.DeepEqual(got.refs, p.refs) {
			t.Fatalf("%+v %v, want %+v", got, err, p)
		}
		i := rapid.IntRange(0, len(b)-1).Draw(t, "byte")
		b[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		var damage *DamageError
		if _, err := decodePreparation("manifest", b); !errors.As(err, &damage) || damage.File != "manifest" {
			t.Fatalf("damage of byte %d: %v", i, err)
		}
	})
}

func sampleBinding() Binding {
	p := quiesce.Process{Node: "a", RaftID: 1, Counter: 2, Epoch: [16]byte{3}}
	return Binding{Coordinator: p, Sequence: 4, Transition: primitives.UUID{5}, Domain: "orders", Entity: first, Source: p, Destination: p, Base: 6}
}

// FuzzHandoffMessage: bytes of a peer are refused with a typed error, or mean what
// they are encoded to again.
func FuzzHandoffMessage(f *testing.F) {
	for _, r := range []*request{{Binding: sampleBinding(), Freeze: 1, Within: time.Second}, {Index: 7}, {Domain: "orders", Entity: first}} {
		b, err := encodeRequest(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, err := encodeAnswer(&answer{Listed: []Listed{{sampleBinding(), true, false}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		for op := Capture; op <= StateCatalog; op++ {
			r, err := decodeRequest(op, b)
			if err != nil {
				if !errors.Is(err, strict.ErrFormat) {
					t.Fatalf("an untyped refusal: %v", err)
				}
				continue
			}
			again, err := encodeRequest(r)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodeRequest(op, again); err != nil || !reflect.DeepEqual(back, r) {
				t.Fatalf("%+v became %+v: %v", r, back, err)
			}
		}
		if a, err := decodeAnswer(b); err == nil {
			again, err := encodeAnswer(a)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodeAnswer(again); err != nil || !reflect.DeepEqual(back, a) {
				t.Fatalf("%+v became %+v: %v", a, back, err)
			}
		} else if !errors.Is(err, strict.ErrFormat) {
			t.Fatalf("an untyped refusal: %v", err)
		}
	})
}

// FuzzPreparation: the files of preparations are refused with a typed error, or
// read as what they were written for.
func FuzzPreparation(f *testing.F) {
	b, err := (&preparation{binding: sampleBinding()}).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[sealBytes : len(b)-32])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, sealed(b)} {
			p, err := decodePreparation("file", b)
			if err != nil {
				var damage *DamageError
				if !errors.As(err, &damage) {
					t.Fatalf("an untyped refusal: %v", err)
				}
				continue
			}
			again, err := p.encode()
			if err != nil {
				t.Fatal(err)
			}
			if back, err := decodePreparation("file", again); err != nil || !reflect.DeepEqual(back, p) {
				t.Fatalf("%+v became %+v: %v", p, back, err)
			}
		}
		if _, err := decodeMark("file", b); err != nil {
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("an untyped refusal: %v", err)
			}
		}
	})
}

// sealed gives any message the seal of a preparation.
func sealed(body []byte) []byte { return sealPreparation.wrap(bytes.Clone(body)) }
