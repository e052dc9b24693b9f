package fault

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
)

func setting(seed uint64, profile Profile) Setting {
	return Setting{
		Seed: seed, Profile: profile, Horizon: time.Minute,
		Kinds: kinds(),
		Nodes: []string{"node-1", "node-2", "node-3"}, Peers: []string{"peer"}, Names: []string{"peer"},
	}
}

func kinds() []Kind { return slices.Concat(Standard(), Clustered(), Destructive()) }

func TestPlansAreData(t *testing.T) {
	for seed := range uint64(200) {
		plan, profile := Draw(setting(seed, ProfileMix))
		again, _ := Draw(setting(seed, ProfileMix))
		if !reflect.DeepEqual(plan, again) {
			t.Fatalf("seed %d: two plans", seed)
		}
		if profile == ProfileCalm != (len(plan) == 0) {
			t.Errorf("seed %d: %v with %d entries", seed, profile, len(plan))
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		var back Plan
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(plan, back) {
			t.Fatalf("seed %d: %v, or another plan: %s", seed, err, text)
		}
	}
}

func TestAClassLessShiftsNothing(t *testing.T) {
	for seed := range uint64(50) {
		s := setting(seed, ProfileAll)
		full, _ := Draw(s)
		s.Kinds = slices.DeleteFunc(s.Kinds, func(k Kind) bool { return k.Class == LinkCut })
		less, _ := Draw(s)
		if !reflect.DeepEqual(full.Without(LinkCut), less) {
			t.Fatalf("seed %d: other entries moved", seed)
		}
	}
}

// program is a node that talks to the peer over names and streams and writes its
// disk.
func program(s *sim.Simulation) func(context.Context, primitives.World) {
	return func(ctx context.Context, w primitives.World) {
		for primitives.Sleep(ctx, w, 100*time.Millisecond) == nil {
			f, err := w.Files().Create("/tmp/file", false)
			if err != nil {
				continue
			}
			f.Append([]byte("bytes"))
			f.Sync()
			f.Close()
			by := w.Clock().Now().Add(time.Second)
			addrs, err := w.Resolver().Lookup(ctx, "peer", by)
			if err != nil {
				continue
			}
			c, err := w.Net().Dial(ctx, netAddr(addrs[0]), by)
			if err != nil {
				continue
			}
			// It stays open for a while, so that there is something to hold.
			c.ReadBy(by)
			for range 8 {
				c.Write([]byte("hello"))
				if n, err := c.Read(make([]byte, 5)); err != nil || n == 0 {
					break
				}
				primitives.Sleep(ctx, w, 100*time.Millisecond)
			}
			c.Close()
		}
	}
}

func TestEveryFaultTakesEffectAndHeals(t *testing.T) {
	total := map[Class]int{}
	for seed := range uint64(20) {
		run := func() uint64 {
			s := sim.New(sim.Options{Seed: seed})
			defer s.Close()
			nodes := []*sim.Host{s.Host("node-1"), s.Host("node-2"), s.Host("node-3")}
			peer := s.Host("peer")
			peer.Start("echo", echo)
			for _, h := range nodes {
				h.Start("program", program(s))
			}
			applied := 0
			in := Broker("broker", []brokers.Verb{{Class: "broker/hang", Lasts: true, Apply: func(time.Duration, int) { applied++ }}})
			set := setting(seed, ProfileAll)
			set.Kinds = append(set.Kinds, in.Kinds()...)
			plan, _ := Draw(set)
			c := Start(s, plan, nodes, in)
			if err := s.Run(set.Horizon); err != nil {
				t.Fatalf("seed %d: %v", seed, s.Failed().Report())
			}
			c.Heal()
			if err := s.Run(5 * time.Minute); err != nil {
				t.Fatalf("seed %d: %v", seed, s.Failed().Report())
			}
			for _, h := range nodes {
				if !h.Running() || h.Frozen() || h.Clock().Now() == 0 {
					t.Errorf("seed %d: %s is not well", seed, h.Name())
				}
			}
			for _, class := range primitives.SortedKeys(c.Fired()) {
				total[class] += c.Fired()[class]
			}
			if applied == 0 {
				t.Errorf("seed %d: the broker was left alone", seed)
			}
			return s.Digest()
		}
		if a, b := run(), run(); a != b {
			t.Fatalf("seed %d: digests %x and %x", seed, a, b)
		}
	}
	for _, k := range kinds() {
		if total[k.Class] == 0 {
			t.Errorf("%s never took effect", k.Class)
		}
	}
}
