package flow

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/primitives"
	"plexus/real"
)

// The same domain on goroutines: what the simulator cannot show is a data race.
func TestOnTheRealWorld(t *testing.T) {
	node := real.NewWorld(real.Options{})
	w := &world{t: t, mem: memory.NewCheckedAllocator(batchtest.Soiled{}), metrics: observe.NewRegistry()}
	ctx := context.Background()
	mu := primitives.NewMutex(node)
	got := map[string][]int64{}
	w.behave = func(ctx context.Context, node primitives.World, name string, c *Carrier) {
		_ = mu.Lock(ctx)
		got[name] = append(got[name], values(c)...)
		mu.Unlock()
		c.Acks.OK(node.Clock().Now())
		c.Release()
	}
	w.d = NewDomain(ctx, node, "d", Deps{External: w, Metrics: w.metrics, Memory: w.mem})
	w.install(decide.Revision{
		Relays:    []decide.RelayPlan{relay("all", 2), relay("even", 1), relay("odd", 1)},
		Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
		Junctions: []decide.JunctionPlan{{Name: "split", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}}, Routes: []decide.RoutePlan{
			to("even", immediate, compare(typed.OpEq, rem(2), literal(0))), to("odd", immediate, compare(typed.OpEq, rem(2), literal(1))),
		}}},
		Emitters: []decide.EmitterPlan{emitterPlan("e", true, "even"), emitterPlan("o", true, "odd"), emitterPlan("both", true, "all", "even")},
	})
	const groups, rows = 200, 100
	var logs []*tallyLog
	for g := range int64(groups) {
		vs := make([]int64, rows)
		for i := range vs {
			vs[i] = g*rows + int64(i)
		}
		logs = append(logs, w.push(ctx, true, vs...))
	}
	for _, log := range logs {
		if err := log.done.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if log.outcomes[0].Failed {
			t.Error("a group failed")
		}
	}
	if err := w.d.Stop(ctx, node.Clock().Now().Add(10*time.Second)); err != nil {
		t.Error(err)
	}
	if len(got["e"]) != groups*rows/2 || len(got["o"]) != groups*rows/2 || len(got["both"]) != groups*rows*3/2 {
		t.Errorf("%d even, %d odd, %d of both", len(got["e"]), len(got["o"]), len(got["both"]))
	}
	if !slices.IsSorted(got["e"]) || !slices.IsSorted(got["o"]) {
		t.Error("order is not kept")
	}
	w.mem.AssertSize(t, 0)
	if err := node.Join(10 * time.Second); err != nil {
		t.Error(err)
	}
}
