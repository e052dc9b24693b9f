package flow

import (
	"context"
	"slices"
	"testing"
	"time"

	"plexus/engine/decide"
)

// chain is a graph that crosses nodes at every edge.
func chain(number uint64, capacity int) decide.Revision {
	return decide.Revision{
		Number:    number,
		Relays:    []decide.RelayPlan{relayOn("n2", "all", capacity), relayOn("n1", "out", capacity)},
		Ingestors: []decide.IngestorPlan{ingestorOn("n1", "in", to("all", immediate, nil))},
		Junctions: []decide.JunctionPlan{junctionOn("n3", "j", true, "all", to("out", immediate, nil))},
		Emitters:  []decide.EmitterPlan{emitterOn("n3", "aside", false, "all"), emitterOn("n2", "e", true, "out")},
	}
}

// An attached record is acknowledged when, and only when, the far side has
// finished it, however many nodes are between.
func TestAcknowledgementsCrossNodes(t *testing.T) {
	for seed := range uint64(20) {
		m := newMesh(t, seed, "n1", "n2", "n3")
		var open []func()
		aside := 0
		m.behave = func(_ context.Context, p *peer, name string, c *Carrier) {
			if name == "aside" {
				aside += c.Rows()
				c.Release()
				return
			}
			if p.name != "n2" {
				t.Errorf("%s runs on %s", name, p.name)
			}
			open = append(open, func() {
				c.Acks.OK(m.world.Clock().Now())
				c.Release()
			})
		}
		m.run(func(ctx context.Context) {
			m.install(chain(1, 2), "n1", "n2", "n3")
			var logs []*tallyLog
			for i := range int64(10) {
				logs = append(logs, m.nodes["n1"].push(ctx, "in", true, seq(3*i, 3*i+3)...))
				m.sleep(ctx, 5*time.Millisecond)
			}
			m.sleep(ctx, time.Second)
			if len(open) == 0 || aside != 30 {
				t.Errorf("%d batches arrived, %d rows aside", len(open), aside)
			}
			for _, log := range logs {
				if len(log.outcomes) > 0 {
					t.Errorf("acknowledged before the far side finished: %v", log)
				}
			}
			for _, f := range open {
				f()
			}
			m.sleep(ctx, time.Second)
			for _, log := range logs {
				if len(log.outcomes) != 1 || log.outcomes[0].Failed {
					t.Errorf("outcome %v", log)
				}
			}
			m.stop(time.Minute)
		})
	}
}

// A far consumer that takes nothing stops the source two nodes before it, within
// the bounds of the slots, and nothing is lost when it goes on.
func TestBackpressureCrossesNodes(t *testing.T) {
	for seed := range uint64(10) {
		m := newMesh(t, seed, "n1", "n2", "n3")
		blocked := true
		var got []int64
		m.behave = func(ctx context.Context, _ *peer, name string, c *Carrier) {
			for blocked && name == "e" {
				m.sleep(ctx, time.Millisecond)
			}
			if name == "e" {
				got = append(got, values(c)...)
			}
			c.Acks.OK(m.world.Clock().Now())
			c.Release()
		}
		m.run(func(ctx context.Context) {
			m.install(chain(1, 1), "n1", "n2", "n3")
			// An observer may undercount nothing: what is not in sight is finished.
			pushed := int64(0)
			for ; pushed < 100; pushed++ {
				done := m.within(ctx, 5*time.Second, func(ctx context.Context) {
					m.nodes["n1"].push(ctx, "in", false, pushed)
				})
				if !done {
					break
				}
				m.sleep(ctx, 10*time.Millisecond)
			}
			// Two relays of one batch, five dispatch slots and copies, lanes and buffers of
			// three operators.
			if pushed < 8 || pushed > 20 {
				t.Errorf("%d groups in flight before the intake waited", pushed)
			}
			blocked = false
			m.sleep(ctx, time.Second)
			m.stop(time.Minute)
			if want := seq(0, pushed); !slices.Equal(got, want) {
				t.Errorf("got %v of %d", got, pushed)
			}
		})
	}
}
