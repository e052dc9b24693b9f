package quiesce

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// modelHold is what the law knows of one identity.
type modelHold struct {
	scope  Scope
	closed bool
	over   bool
	until  primitives.Instant
}

// Engage, retry, expire, release in any order, of processes that restart: a gate
// is closed exactly while a lease of its hold lives (leases; Q1 to Q4).
func TestLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const lease = 10 * time.Second
		core := newLeases()
		now := primitives.Instant(0)
		model := map[ID]*modelHold{}
		newest := map[string]uint64{}
		departed := map[Process]bool{}
		process := func() Process {
			node := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node")
			counter := rapid.Uint64Range(1, 3).Draw(t, "counter")
			return Process{Node: node, RaftID: 1, Counter: counter, Epoch: [16]byte{byte(counter), node[0]}}
		}
		hold := func(p Process) *request {
			return &request{
				ID:    ID{p.Node, p.Epoch, rapid.Uint64Range(1, 4).Draw(t, "sequence")},
				Scope: Scope{Domain: "d", Purpose: ForChange, Gates: []string{rapid.SampledFrom([]string{"r", "s"}).Draw(t, "gate")}},
				Lease: lease,
			}
		}
		stranger := func(r *request) { // an identity that the process does not own
			switch rapid.IntRange(0, 9).Draw(t, "stranger") {
			case 0:
				r.ID.Epoch[5]++
			case 1:
				r.ID.Coordinator += "x"
			}
		}
		allowed := func(p Process, r *request) bool {
			return r.ID.Coordinator == p.Node && r.ID.Epoch == p.Epoch && newest[p.Node] <= p.Counter
		}
		expire := func() {
			for _, m := range model { //plexus:orderfree each for itself
				if m.closed && now >= m.until {
					m.closed, m.over = false, true
				}
			}
		}
		get := func(id ID) *modelHold {
			if model[id] == nil {
				model[id] = new(modelHold)
			}
			return model[id]
		}
		t.Repeat(map[string]func(*rapid.T){
			"engage": func(t *rapid.T) {
				p := process()
				r := hold(p)
				stranger(r)
				l, fresh, refusal := core.engage(now, p, r)
				if fresh {
					l.closed()
				}
				expire()
				if !allowed(p, r) {
					if refusal == nil || refusal.Reason != NotOwner {
						t.Fatalf("a stranger engaged: %v", refusal)
					}
					return
				}
				newest[p.Node] = p.Counter
				m := get(r.ID)
				switch {
				case m.over || departed[p]:
					if refusal == nil || refusal.Reason != Ended {
						t.Fatalf("a hold that is over: %v", refusal)
					}
				case m.closed && !m.scope.equal(r.Scope):
					if refusal == nil || refusal.Reason != OtherScope {
						t.Fatalf("another scope: %v", refusal)
					}
				case refusal != nil:
					t.Fatalf("refused: %v", refusal)
				default:
					if fresh == m.closed {
						t.Fatalf("fresh %t while closed %t", fresh, m.closed)
					}
					*m = modelHold{scope: r.Scope, closed: true, until: now.Add(lease)}
				}
			},
			"release": func(t *rapid.T) {
				p := process()
				r := hold(p)
				stranger(r)
				l, refusal := core.release(p, r)
				if !allowed(p, r) {
					if refusal == nil {
						t.Fatal("a stranger released")
					}
					return
				}
				if refusal != nil {
					t.Fatal(refusal)
				}
				if l != nil {
					core.forget(l)
				}
				newest[p.Node] = p.Counter
				*get(r.ID) = modelHold{over: true}
			},
			"departed": func(t *rapid.T) {
				p := process()
				core.departed(p)
				if newest[p.Node] == p.Counter {
					departed[p] = true
				}
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(lease)).Draw(t, "passes")))
			},
			"": func(t *rapid.T) {
				expire()
				for _, l := range core.live { //plexus:orderfree each for itself
					core.expire(now, l)
					if l.phase == ended {
						core.forget(l)
					}
				}
				for id, m := range model { //plexus:orderfree each for itself
					if l := core.live[id]; (l != nil) != m.closed {
						t.Fatalf("%v: closed %t, want %t", id, l != nil, m.closed)
					} else if l != nil && l.until != m.until {
						t.Fatalf("%v: until %d, want %d", id, l.until, m.until)
					}
				}
			},
		})
	})
}

// What is over is remembered until the coordinator says that no message of it can
// come any more.
func TestFloorForgets(t *testing.T) {
	core := newLeases()
	p := Process{Node: "a", Epoch: [16]byte{1}}
	for sequence := range uint64(100) {
		r := &request{ID: ID{"a", p.Epoch, sequence + 1}, Floor: sequence}
		if _, refusal := core.release(p, r); refusal != nil {
			t.Fatal(refusal)
		}
	}
	if n := len(core.owners["a"].over); n > 2 {
		t.Errorf("%d holds are remembered", n)
	}
	late := &request{ID: ID{"a", p.Epoch, 5}, Scope: Scope{Domain: "d"}, Lease: time.Second}
	if _, _, refusal := core.engage(0, p, late); refusal == nil || refusal.Reason != Ended {
		t.Errorf("a late engage: %v", refusal)
	}
}
