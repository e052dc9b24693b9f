package state

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
	"plexus/sim"
)

// copies is a cluster of replications inside one process, whose calls get lost.
type copies struct {
	w     primitives.World
	nodes map[string]*copier
	lossy bool
	draw  *sim.Stream
}

type copier struct {
	c     *copies
	name  string
	store *Store
	r     *Replication
}

var errCall = errors.New("the call was lost")

func (n *copier) lost() bool { return n.c.lossy && n.c.draw.Below(3) == 0 }

func (n *copier) Announce(_ context.Context, node string, refs []Ref) error {
	if n.lost() {
		return errCall
	}
	n.c.nodes[node].r.Announced(n.name, refs)
	if n.lost() {
		return errCall
	}
	return nil
}

func (n *copier) Acknowledge(_ context.Context, node string, refs []Ref) error {
	for _, ref := range refs {
		if held, ok, err := n.store.Ref(ref.Placement); err != nil || !ok || ref.Newer(held) {
			panic(fmt.Sprintf("%s acknowledges revision %d and holds %d: %v", n.name, ref.Revision, held.Revision, err))
		}
	}
	if n.lost() {
		return errCall
	}
	n.c.nodes[node].r.Acknowledged(n.name, refs)
	return nil
}

func (n *copier) Published(_ context.Context, node string, id Identity) (refs []Ref, err error) {
	if n.lost() {
		return nil, errCall
	}
	other := n.c.nodes[node]
	for _, p := range other.store.List(id) {
		ref, ok, err := other.store.Ref(p)
		if err != nil {
			return nil, err
		}
		if ok {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

func (n *copier) Inline(_ context.Context, node string, ref Ref) (b []byte, err error) {
	if n.lost() {
		return nil, errCall
	}
	c, err := n.c.nodes[node].store.Open(ref.Placement)
	if err != nil {
		return nil, err
	}
	err = c.Serve(ref, 0, func(chunk []byte) error { b = append(b, chunk...); return nil })
	return b, errors.Join(err, c.Close())
}

func (n *copier) Open(context.Context, string, Ref, uint64) (Chunks, error) { return nil, errCall }

// Replicas end with the newest publication, whatever was lost, and acknowledge only
// what is durable.
func TestReplicasFollow(t *testing.T) {
	for seed := range uint64(10) {
		s := sim.New(sim.Options{Seed: seed})
		w := s.Host("machine").World()
		draw := s.Stream("losses")
		if err := s.Do("test", func() {
			ctx := context.Background()
			c := &copies{w: w, nodes: map[string]*copier{}, lossy: true, draw: draw}
			for _, name := range []string{"a", "b", "c"} {
				must(errors.Join(w.Files().MkdirAll(name), w.Files().SyncDir(".")))
				store, err := OpenStore(w, name)
				must(err)
				staging, err := OpenStaging(w, name, 1<<20)
				must(err)
				store.Publishes("d", []Identity{testPlacement(0).Identity})
				n := &copier{c: c, name: name, store: store}
				n.r = NewReplication(w, name, store, staging, n)
				n.r.Start(ctx)
				c.nodes[name] = n
			}
			id := testPlacement(0).Identity
			owner := c.nodes["a"]
			owner.r.Own(id, []string{"b", "c"})
			c.nodes["b"].r.Copy(id, "a")
			c.nodes["c"].r.Copy(id, "a")
			var last Ref
			for i := range 60 {
				branch := byte(1 + draw.Below(20))
				ref, err := owner.store.Publish(testSnapshot(branch, owner.store.Next(testPlacement(branch), 1)))
				must(err)
				owner.r.Published(ref)
				if i == 59 {
					last = ref
				}
				must(primitives.Sleep(ctx, w, time.Duration(draw.Below(uint64(50*time.Millisecond)))))
			}
			must(owner.r.Replicated(ctx, last))
			c.lossy = false
			must(primitives.Sleep(ctx, w, 5*time.Second))
			for _, p := range owner.store.List(id) {
				want, _, err := owner.store.Ref(p)
				must(err)
				must(owner.r.Replicated(ctx, want))
				for _, name := range []string{"b", "c"} {
					if got, _, err := c.nodes[name].store.Ref(p); err != nil || got != want {
						t.Errorf("seed %d: %s holds %+v of %+v: %v", seed, name, got, want, err)
					}
				}
			}
			// A replica that is not assigned any more holds nothing up.
			owner.r.Own(id, []string{"b"})
			c.nodes["b"].r.Copy(id, "a")
			c.nodes["c"].r.Copy(id, "")
			ref, err := owner.store.Publish(testSnapshot(1, owner.store.Next(testPlacement(1), 1)))
			must(err)
			owner.r.Published(ref)
			must(owner.r.Replicated(ctx, ref))
			for _, name := range primitives.SortedKeys(c.nodes) {
				must(c.nodes[name].r.Stop(ctx))
			}
		}, time.Hour); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Close()
	}
}

// Progress of a replica only rises, and coverage means every assigned replica.
func TestAcknowledgementsAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newPublished()
		id := testPlacement(0).Identity
		nodes := []string{"b", "c"}
		c.assign(id, nodes)
		highest := map[string]Ref{}
		ref := func() Ref {
			return Ref{Placement: testPlacement(1), Fence: rapid.Uint64Range(1, 3).Draw(t, "fence"), Revision: rapid.Uint64Range(1, 5).Draw(t, "revision")}
		}
		newest := Ref{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			r := ref()
			switch node := rapid.SampledFrom(nodes).Draw(t, "node"); rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				if c.publish(r); r.Newer(newest) {
					newest = r
				}
			case 1:
				if c.acknowledge(node, r); r.Newer(highest[node]) {
					highest[node] = r
				}
			case 2:
				for _, told := range c.next(node) {
					if told != newest || !told.Newer(highest[node]) {
						t.Fatalf("%s is told of %+v and has %+v", node, told, highest[node])
					}
				}
				c.told(node, c.next(node))
				if len(c.next(node)) > 0 {
					t.Fatal("it is told twice")
				}
			}
			probe := ref()
			want := !probe.Newer(highest["b"]) && !probe.Newer(highest["c"])
			if c.covered(probe) != want {
				t.Fatalf("%+v is covered: %t, acknowledged %+v", probe, !want, highest)
			}
		}
	})
}
