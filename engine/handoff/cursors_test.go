package handoff

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/sim"
)

// The positions of a cursor source move with it, all instances, and nothing else
// stays.
func TestCursorsMove(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	w := s.Host("machine").World()
	feed := quiesce.Entity{Kind: vocab.EntityIngestor, Name: "feed"}
	revision := 3
	key := func(domain, ingestor string) (state.Key, bool) {
		return state.Key{Domain: domain + ".1", Ingestor: fmt.Sprint(ingestor, ".", revision)}, ingestor == "feed"
	}
	position := func(n int) contract.State {
		return contract.State{Connector: "REST", Version: 2, Bytes: fmt.Append(nil, "page ", n)}
	}
	if err := s.Do("test", func() {
		must(errors.Join(w.Files().MkdirAll("a"), w.Files().MkdirAll("b")))
		from, to := state.NewCursors(w, "a"), state.NewCursors(w, "b")
		source, destination := Cursors(from, key), Cursors(to, key)
		ctx := context.Background()
		if list, err := source.Capture(ctx, "orders", feed); err != nil || len(list) != 0 {
			t.Errorf("of a source without a position: %v %v", list, err)
		}
		for instance := range 3 {
			must(from.Save(ctx, state.Key{Domain: "orders.1", Ingestor: "feed.3", Instance: instance}, position(10+instance)))
		}
		must(to.Save(ctx, state.Key{Domain: "orders.1", Ingestor: "feed.3", Instance: 7}, position(1))) // of an earlier ownership
		list, err := source.Capture(ctx, "orders", feed)
		must(err)
		if len(list) != 1 || len(list[0].Sections) != 3 {
			t.Errorf("captured %+v", list)
		}
		refs, err := source.Saved(ctx, "orders", feed)
		must(err)
		ref, err := list[0].Ref()
		must(err)
		if len(refs) != 1 || refs[0] != ref {
			t.Errorf("saved %v, captured %v", refs, ref)
		}
		c, err := source.Open(ctx, ref)
		must(err)
		for range 2 {
			must(destination.Restore(ctx, c))
		}
		states, _, err := to.Positions(ctx, "orders.1", "feed.3")
		must(err)
		for instance, got := range states { //plexus:orderfree each for itself
			if want := position(10 + instance); got.Connector != want.Connector || got.Version != want.Version || string(got.Bytes) != string(want.Bytes) {
				t.Errorf("instance %d: %+v", instance, got)
			}
		}
		if len(states) != 3 {
			t.Errorf("%d instances", len(states))
		}
		must(from.Save(ctx, state.Key{Domain: "orders.1", Ingestor: "feed.3"}, position(99)))
		var replaced *state.ReplacedError
		if _, err := source.Open(ctx, ref); !errors.As(err, &replaced) {
			t.Errorf("a position that was replaced: %v", err)
		}
		must(destination.Reset(ctx, "orders", feed))
		if states, _, err := to.Positions(ctx, "orders.1", "feed.3"); err != nil || len(states) != 0 {
			t.Errorf("after a reset: %v %v", states, err)
		}
		revision = 4 // the ingestor was dropped and created again
		var past *state.NotCurrentError
		if err := destination.Restore(ctx, c); !errors.As(err, &past) {
			t.Errorf("a position of the past: %v", err)
		}
		other := quiesce.Entity{Kind: vocab.EntityEmitter, Name: "feed"}
		if list, err := source.Capture(ctx, "orders", other); err != nil || len(list) != 0 {
			t.Errorf("of an emitter: %v %v", list, err)
		}
	}, time.Minute); err != nil {
		t.Error(err)
	}
}
