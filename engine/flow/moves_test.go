package flow

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"plexus/engine/ack"
	"plexus/engine/decide"
	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// layoutOf says which node executes what of the graph of moved.
type layoutOf struct{ in, all, out, j, e, f, aside string }

// moved is a graph with two attached paths and a detached one.
func moved(number uint64, p layoutOf) decide.Revision {
	return decide.Revision{
		Number:    number,
		Relays:    []decide.RelayPlan{relayOn(p.all, "all", 2), relayOn(p.out, "out", 1)},
		Ingestors: []decide.IngestorPlan{ingestorOn(p.in, "in", to("all", immediate, nil))},
		Junctions: []decide.JunctionPlan{junctionOn(p.j, "j", true, "all", to("out", each(2*time.Millisecond), nil))},
		Emitters:  []decide.EmitterPlan{emitterOn(p.aside, "aside", false, "all"), emitterOn(p.e, "e", true, "out"), emitterOn(p.f, "f", true, "all")},
	}
}

// hold engages a scope on every live node and waits until it is at rest, as a
// coordinator does: two generations with nothing visible and nothing admitted
// between.
func (m *mesh) hold(ctx context.Context, s quiesce.Scope) (release func()) {
	s.Domain = "d"
	var handles []quiesce.Held
	for _, n := range primitives.SortedKeys(m.nodes) {
		if m.nodes[n].alive {
			h, err := m.nodes[n].d.Engage(ctx, s)
			if err != nil {
				m.t.Error(err)
				return func() {}
			}
			handles = append(handles, h)
		}
	}
	rest, last := 0, uint64(0)
	for generation := uint64(1); rest < 2; generation++ {
		for _, h := range handles {
			h.Flush(generation)
		}
		quiet, seen := true, uint64(0)
		for polls := 0; ; polls++ {
			m.sleep(ctx, 5*time.Millisecond)
			done := true
			quiet, seen = true, 0
			for _, h := range handles {
				l := h.Look()
				done = done && l.Flushed >= generation
				quiet = quiet && len(l.Blockers) == 0
				seen += l.Admitted
				if polls > 2000 {
					m.t.Errorf("hold does not come to rest: %v, flushed %d of %d", l.Blockers, l.Flushed, generation)
				}
			}
			if done || polls > 2000 {
				break
			}
		}
		if quiet && (rest == 0 || seen == last) {
			rest++
		} else {
			rest = 0
		}
		last = seen
		if generation > 5000 {
			m.t.Error("hold does not come to rest")
			break
		}
	}
	return func() {
		for _, h := range handles {
			h.Release()
		}
	}
}

func entity(kind vocab.EntityKind, name string) quiesce.Entity {
	return quiesce.Entity{Kind: kind, Name: name}
}

// A planned move of a relay and of what reads it fails nothing, loses nothing and
// doubles nothing, whoever pushes meanwhile, acknowledged or not.
func TestPlannedMove(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMesh(t, seed, "n1", "n2", "n3")
			got := m.collect()
			draw := m.sim.Stream("scenario")
			names := []string{"n1", "n2", "n3"}
			pick := func() string { return names[draw.Below(3)] }
			m.run(func(ctx context.Context) {
				at := layoutOf{in: "n1", all: pick(), out: pick(), j: pick(), e: pick(), f: pick(), aside: pick()}
				m.install(moved(1, at), names...)
				var logs []*tallyLog
				n, pushing := int64(0), true
				source := primitives.NewGroup(ctx, m.world)
				source.Go("source", func(ctx context.Context) error {
					for pushing {
						if log := m.nodes["n1"].push(ctx, "in", draw.Below(2) == 0, seq(n, n+3)...); log != nil {
							logs = append(logs, log)
						}
						n += 3
						m.sleep(ctx, time.Duration(draw.Below(3000))*time.Microsecond)
					}
					return nil
				})
				for number := uint64(2); number < 6; number++ {
					m.sleep(ctx, time.Duration(draw.Below(100))*time.Millisecond)
					// Everything downstream of the source moves, or stays, as the seed likes.
					release := m.hold(ctx, quiesce.Scope{Gates: []string{"all"}, Drain: []quiesce.Entity{
						entity(vocab.EntityRelay, "all"), entity(vocab.EntityRelay, "out"), entity(vocab.EntityJunction, "j"),
						entity(vocab.EntityEmitter, "e"), entity(vocab.EntityEmitter, "f"), entity(vocab.EntityEmitter, "aside"),
					}})
					at = layoutOf{in: "n1", all: pick(), out: pick(), j: pick(), e: pick(), f: pick(), aside: pick()}
					g := primitives.NewGroup(ctx, m.world)
					for _, node := range names {
						delay := time.Duration(draw.Below(200)) * time.Millisecond
						g.Go("install", func(ctx context.Context) error {
							m.sleep(ctx, delay)
							m.nodes[node].install(moved(number, at))
							return nil
						})
					}
					_ = g.Wait(ctx)
					release()
				}
				m.sleep(ctx, 100*time.Millisecond)
				pushing = false
				_ = source.Wait(ctx)
				m.sleep(ctx, time.Second)
				for _, log := range logs {
					if len(log.outcomes) != 1 || log.outcomes[0].Failed {
						t.Errorf("outcome %v", log)
					}
				}
				m.stop(time.Minute)
				for _, name := range []string{"e", "f", "aside"} {
					if !slices.Equal(got[name], seq(0, n)) {
						t.Errorf("%s got %d rows of %d, or not in order: %v", name, len(got[name]), n, got[name])
					}
				}
			})
		})
	}
}

// Whatever dies, moves without a hold, or is cut off: an acknowledged record was
// finished by every attached path, every record has one outcome, and once the
// cluster is left alone everything is acknowledged.
func TestNoAcknowledgedLossAcrossNodes(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for _, problem := range forcedMoves(t, seed) {
				t.Error(problem)
			}
		})
	}
}

// forcedMoves runs a seed of it and returns what must not be.
func forcedMoves(t *testing.T, seed uint64) (problems []string) {
	m := newMesh(t, seed, "n1", "n2", "n3")
	draw := m.sim.Stream("scenario")
	below := func(n uint64) int { return int(draw.Below(n)) }
	done := finished{}
	m.behave = func(ctx context.Context, p *peer, name string, c *Carrier) {
		m.sleep(ctx, time.Duration(below(3000))*time.Microsecond)
		now := m.world.Clock().Now()
		if below(20) == 0 {
			c.Fail(now, ack.Reason{Class: ack.ClassMessage, Text: "refused"})
			return
		}
		if p.alive {
			done[name] = append(done[name], values(c)...)
		}
		c.Acks.OK(now)
		c.Release()
	}
	var logs []*tallyLog
	late := 0 // logs from here on were pushed in the quiet suffix
	m.run(func(ctx context.Context) {
		names := []string{"n1", "n2", "n3"}
		live := slices.Clone(names)
		pick := func() string { return live[below(uint64(len(live)))] }
		placed := func() layoutOf {
			return layoutOf{in: "n1", all: pick(), out: pick(), j: pick(), e: pick(), f: pick(), aside: pick()}
		}
		number := uint64(1)
		at := placed()
		current := moved(number, at)
		m.install(current, names...)
		background := primitives.NewGroup(ctx, m.world)
		spread := func() { // each node reads the schedule when it gets to it
			number++
			if next := placed(); below(3) > 0 {
				at = next
			} else { // the relays alone
				at.all, at.out = next.all, next.out
			}
			current = moved(number, at)
			rev := current
			for _, node := range live {
				delay := time.Duration(below(300)) * time.Millisecond
				background.Go("install", func(ctx context.Context) error {
					m.sleep(ctx, delay)
					if p := m.nodes[node]; p.alive && p.d.number() < rev.Number {
						p.install(rev)
					}
					return nil
				})
			}
		}
		n, pushing := int64(0), true
		background.Go("source", func(ctx context.Context) error {
			for pushing {
				if in := m.nodes["n1"].sources["in"]; in != nil && !in.stopped {
					if log := m.nodes["n1"].push(ctx, "in", below(4) > 0, seq(n, n+int64(1+below(5)))...); log != nil {
						logs = append(logs, log)
					}
					n += 5
				}
				m.sleep(ctx, time.Duration(below(5000))*time.Microsecond)
			}
			return nil
		})
		for range 4 {
			m.sleep(ctx, time.Duration(below(400))*time.Millisecond)
			switch below(4) {
			case 0: // a node without the source dies and another comes up in its place
				victim := m.nodes[names[1+below(2)]]
				if !victim.alive {
					continue
				}
				victim.crash()
				live = slices.DeleteFunc(live, func(x string) bool { return x == victim.name })
				m.sleep(ctx, time.Duration(below(2000))*time.Millisecond)
				spread()
				m.sleep(ctx, time.Duration(below(1000))*time.Millisecond)
				victim.boot()
				m.publishReaders()
				live = append(live, victim.name)
				slices.Sort(live)
				victim.install(current)
			case 1: // a link is cut for a while
				a, b := names[below(3)], names[below(3)]
				m.cut[a+" "+b] = true
				m.sleep(ctx, time.Duration(below(20_000))*time.Millisecond)
				delete(m.cut, a+" "+b)
			default:
				spread()
			}
		}
		m.sleep(ctx, 2*time.Second)
		pushing = false
		_ = background.Wait(ctx)
		m.sleep(ctx, time.Minute) // every silence bound
		late = len(logs)
		m.behave = func(_ context.Context, _ *peer, name string, c *Carrier) {
			done[name] = append(done[name], values(c)...)
			c.Acks.OK(m.world.Clock().Now())
			c.Release()
		}
		for range 5 {
			logs = append(logs, m.nodes["n1"].push(ctx, "in", true, n))
			n++
			m.sleep(ctx, 10*time.Millisecond)
		}
		m.sleep(ctx, time.Minute)
		m.stop(time.Minute)
	})
	e, f := done.of("e"), done.of("f")
	acked := 0
	for i, log := range logs {
		if len(log.outcomes) != 1 {
			problems = append(problems, fmt.Sprintf("%d outcomes of %v", len(log.outcomes), log))
			continue
		}
		if log.outcomes[0].Failed {
			if i >= late {
				problems = append(problems, fmt.Sprintf("failed in a quiet cluster: %v", log))
			}
			continue
		}
		acked++
		for _, v := range log.values {
			if !e[v] || !f[v] {
				problems = append(problems, fmt.Sprintf("%d was acknowledged and not finished everywhere: e %v, f %v", v, e[v], f[v]))
			}
		}
	}
	if acked == 0 {
		problems = append(problems, "nothing was acknowledged")
	}
	return problems
}
