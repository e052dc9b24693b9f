package ack

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/engine/observe"
	"plexus/primitives"
)

// The reference keeps one object per root and one per share, and knows nothing
// of whole shares, segments or words.
type refRoot struct {
	pending, parked int
	failed          bool
	reason          string
	progress        primitives.Instant
}

type refTree struct {
	roots  []refRoot
	first  string // first failure
	done   int    // times the outcome was given
	failed bool
}

func (t *refTree) settle() {
	for i := range t.roots {
		if r := &t.roots[i]; !r.failed && r.pending > 0 {
			return
		}
	}
	if t.done == 0 {
		t.done, t.failed = 1, t.first != ""
	}
}

func (t *refTree) fail(row int, why string) {
	r := &t.roots[row]
	if r.failed {
		return
	}
	if t.first == "" {
		t.first = why
	}
	r.failed, r.reason = true, why
}

type refShare struct {
	tree *refTree
	root int
}

// refSet is one set: shares per row.
type refSet [][]refShare

func (s refSet) each(f func(refShare)) {
	touched := []*refTree{}
	for _, row := range s {
		for _, share := range row {
			f(share)
			if !slices.Contains(touched, share.tree) {
				touched = append(touched, share.tree)
			}
		}
	}
	for _, t := range touched {
		t.settle()
	}
}

// pair is a set of the implementation beside its reference.
type pair struct {
	set *Set
	ref refSet
}

type harness struct {
	ledger   *Ledger
	now      primitives.Instant
	live     []pair
	parked   []pair
	trees    []*Tree
	refs     []*refTree
	outcomes []*outcomeLog
	forwards []forwardPair
}

type outcomeLog struct {
	got     []Outcome
	watched bool
	rows    map[int32][]Outcome // of a watched tree
}

// forwardPair is a forwarded set beside its reference.
type forwardPair struct {
	f        *Forwarded
	ref      refSet
	resolved []bool
	parked   *bool
}

func (h *harness) take(t *rapid.T) pair {
	i := rapid.IntRange(0, len(h.live)-1).Draw(t, "set")
	p := h.live[i]
	h.live = slices.Delete(h.live, i, i+1)
	return p
}

func (h *harness) put(p pair) {
	if len(p.ref) > 0 {
		h.live = append(h.live, p)
	}
}

func drawRows(t *rapid.T, n int) []int32 {
	var rows []int32
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0: // all
		for i := range n {
			rows = append(rows, int32(i))
		}
	case 1: // none
	default:
		for i := range n {
			if rapid.Bool().Draw(t, "keep") {
				rows = append(rows, int32(i))
			}
		}
	}
	return rows
}

func TestTreeAgainstPerRowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &harness{ledger: NewLedger("d", observe.NewRegistry(), nil)}
		ok := func(p pair) {
			p.set.OK(h.now)
			p.ref.each(func(s refShare) {
				s.tree.roots[s.root].pending--
				s.tree.roots[s.root].progress = h.now
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				if len(h.trees) >= 4 {
					t.Skip()
				}
				n := rapid.IntRange(1, 6).Draw(t, "roots")
				log := &outcomeLog{}
				var tree *Tree
				var set *Set
				if rapid.Bool().Draw(t, "watched") {
					log.watched, log.rows = true, map[int32][]Outcome{}
					tree, set = h.ledger.Watch(n, h.now, func(rows []int32, o Outcome) { log.report(n, rows, o) })
				} else {
					tree, set = h.ledger.Open(n, h.now, func(o Outcome) { log.got = append(log.got, o) })
				}
				ref := &refTree{roots: make([]refRoot, n)}
				rs := make(refSet, n)
				for i := range n {
					ref.roots[i] = refRoot{pending: 1, progress: h.now}
					rs[i] = []refShare{{ref, i}}
				}
				h.trees, h.refs, h.outcomes = append(h.trees, tree), append(h.refs, ref), append(h.outcomes, log)
				h.live = append(h.live, pair{set, rs})
			},
			"advance": func(t *rapid.T) {
				h.now = h.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "ms")) * time.Millisecond)
			},
			"ok": func(t *rapid.T) {
				if len(h.live) == 0 {
					t.Skip()
				}
				ok(h.take(t))
			},
			"fail": func(t *rapid.T) {
				if len(h.live) == 0 {
					t.Skip()
				}
				p := h.take(t)
				why := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "why")
				p.set.Fail(h.now, Reason{ClassMessage, why})
				p.ref.each(func(s refShare) {
					s.tree.fail(s.root, why)
					s.tree.roots[s.root].pending--
					s.tree.roots[s.root].progress = h.now
				})
			},
			"fork": func(t *rapid.T) {
				if len(h.live) == 0 || len(h.live) > 12 {
					t.Skip()
				}
				p := h.take(t)
				n := rapid.IntRange(0, 3).Draw(t, "n")
				sets := p.set.Fork(n, h.now)
				p.ref.each(func(s refShare) {
					s.tree.roots[s.root].pending += n - 1
					if n != 1 {
						s.tree.roots[s.root].progress = h.now
					}
				})
				for _, s := range sets {
					h.put(pair{s, p.ref})
				}
			},
			"select": func(t *rapid.T) {
				if len(h.live) == 0 {
					t.Skip()
				}
				p := h.take(t)
				rows := drawRows(t, len(p.ref))
				kept := p.set.Select(rows, h.now)
				var in, out refSet
				for i, shares := range p.ref {
					if slices.Contains(rows, int32(i)) {
						in = append(in, shares)
					} else {
						out = append(out, shares)
					}
				}
				out.each(func(s refShare) {
					s.tree.roots[s.root].pending--
					s.tree.roots[s.root].progress = h.now
				})
				h.put(pair{kept, in})
			},
			"partition": func(t *rapid.T) {
				if len(h.live) == 0 || len(h.live) > 12 {
					t.Skip()
				}
				p := h.take(t)
				rows := drawRows(t, len(p.ref))
				listed, rest := p.set.Partition(rows)
				var in, out refSet
				for i, shares := range p.ref {
					if slices.Contains(rows, int32(i)) {
						in = append(in, shares)
					} else {
						out = append(out, shares)
					}
				}
				h.put(pair{listed, in})
				h.put(pair{rest, out})
			},
			"join": func(t *rapid.T) {
				if len(h.live) < 2 {
					t.Skip()
				}
				a, b := h.take(t), h.take(t)
				joined := Join([]*Set{a.set, nil, b.set}, []int{len(a.ref), 1, len(b.ref)})
				ref := slices.Clone(a.ref)
				ref = append(ref, nil)
				h.put(pair{joined, append(ref, b.ref...)})
			},
			"touch": func(t *rapid.T) {
				if len(h.live) == 0 {
					t.Skip()
				}
				p := h.take(t)
				p.set.Touch(h.now)
				p.ref.each(func(s refShare) { s.tree.roots[s.root].progress = h.now })
				h.put(p)
			},
			"park": func(t *rapid.T) {
				if len(h.live) == 0 {
					t.Skip()
				}
				p := h.take(t)
				p.set.Park()
				p.ref.each(func(s refShare) { s.tree.roots[s.root].parked++ })
				h.parked = append(h.parked, p)
			},
			"unpark": func(t *rapid.T) {
				if len(h.parked) == 0 {
					t.Skip()
				}
				p := h.parked[0]
				h.parked = h.parked[1:]
				p.set.Unpark()
				p.ref.each(func(s refShare) { s.tree.roots[s.root].parked-- })
				h.put(p)
			},
			"forward": func(t *rapid.T) {
				if len(h.live) == 0 || len(h.forwards) > 3 {
					t.Skip()
				}
				p := h.take(t)
				h.forwards = append(h.forwards, forwardPair{p.set.Forward(), p.ref, make([]bool, len(p.ref)), new(bool)})
			},
			"report":  func(t *rapid.T) { h.report(t) },
			"refresh": func(t *rapid.T) { h.refresh(t) },
			"expire": func(t *rapid.T) {
				timeout := 60 * time.Millisecond
				for i, tree := range h.trees {
					if h.outcomes[i].watched {
						continue // nothing expires a watched tree
					}
					tree.Expire(h.now, timeout)
					ref := h.refs[i]
					for row := range ref.roots {
						if r := &ref.roots[row]; !r.failed && r.pending > 0 && h.now.Sub(r.progress) >= timeout {
							ref.fail(row, TimedOut.Text)
						}
					}
					ref.settle()
				}
			},
			"": func(t *rapid.T) { h.compare(t) },
		})
	})
}

func (h *harness) compare(t *rapid.T) {
	for i, tree := range h.trees {
		ref, log := h.refs[i], h.outcomes[i]
		if log.watched {
			log.compare(t, ref)
			if tree.Finished() != (ref.done == 1) {
				t.Fatalf("watched tree %d: finished %v, reference %d", i, tree.Finished(), ref.done)
			}
		} else if len(log.got) != ref.done || tree.Finished() != (ref.done == 1) {
			t.Fatalf("tree %d: %d outcomes, reference %d", i, len(log.got), ref.done)
		}
		if !log.watched && ref.done == 1 && (log.got[0].Failed != ref.failed || log.got[0].Reason.Text != ref.first) {
			t.Fatalf("tree %d: outcome %v, reference failed=%v %q", i, log.got[0], ref.failed, ref.first)
		}
		unparked := 0
		for row := range ref.roots {
			r := &ref.roots[row]
			if ref.done == 0 && !r.failed && r.pending > 0 && r.parked != r.pending {
				unparked++
			}
		}
		if got := tree.Unparked(); got != unparked {
			t.Fatalf("tree %d: %d unparked roots, reference %d", i, got, unparked)
		}
		tree.open(func(row int32, progress primitives.Instant, _ bool) {
			r := &ref.roots[row]
			if r.failed || r.pending == 0 || r.progress != progress {
				t.Fatalf("tree %d root %d: open with progress %d, reference %+v", i, row, progress, *r)
			}
		})
	}
}

func TestTallyWaitsForEveryTree(t *testing.T) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	var got []Outcome
	tally := NewTally(l, func(o Outcome) { got = append(got, o) })
	a := tally.Open(2, 0)
	b := tally.Open(3, 0)
	tally.Seal()
	a.Fail(1, Reason{ClassMessage, "poison"})
	if len(got) != 0 {
		t.Fatal("outcome before the second tree ended")
	}
	b.OK(2)
	if len(got) != 1 || !got[0].Failed || got[0].Reason.Text != "poison" {
		t.Fatalf("got %v", got)
	}
}

func TestTallyWithoutMessages(t *testing.T) {
	var got []Outcome
	tally := NewTally(NewLedger("d", observe.NewRegistry(), nil), func(o Outcome) { got = append(got, o) })
	tally.Seal()
	if len(got) != 1 || got[0].Failed {
		t.Fatalf("got %v", got)
	}
}

func TestSetIsUsedOnce(t *testing.T) {
	_, s := NewLedger("d", observe.NewRegistry(), nil).Open(1, 0, func(Outcome) {})
	s.OK(0)
	defer func() {
		if recover() == nil {
			t.Fatal("a set was resolved twice without complaint")
		}
	}()
	s.OK(0)
}

func BenchmarkLinearPath(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Open(1024, 0, func(Outcome) {})
		for range 3 {
			s = s.Fork(1, 1)[0]
		}
		s.OK(2)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}

func BenchmarkHalfFiltered(b *testing.B) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	var rows []int32
	for i := int32(0); i < 1024; i += 2 {
		rows = append(rows, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, s := l.Open(1024, 0, func(Outcome) {})
		s = s.Select(rows, 1)
		for _, child := range s.Fork(2, 1) {
			child.OK(2)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}

// Many holders of one tree on goroutines: one outcome, and it is right.
func TestConcurrentHolders(t *testing.T) {
	l := NewLedger("d", observe.NewRegistry(), nil)
	for round := range 200 {
		var outcomes atomic.Int32
		var failed atomic.Bool
		const rows, holders = 64, 8
		_, set := l.Open(rows, 0, func(o Outcome) {
			outcomes.Add(1)
			failed.Store(o.Failed)
		})
		var wg sync.WaitGroup
		for h, s := range set.Fork(holders, 1) {
			wg.Go(func() {
				var some []int32
				for i := range int32(rows) {
					if (int(i)+h+round)%(h+2) == 0 {
						some = append(some, i)
					}
				}
				switch h % 4 {
				case 0:
					s.OK(2)
				case 1:
					listed, rest := s.Partition(some)
					rest.OK(2)
					listed.Fork(1, 3)[0].OK(3)
				case 2:
					for _, child := range s.Select(some, 2).Fork(3, 3) {
						child.Touch(4)
						child.OK(4)
					}
				default:
					listed, rest := s.Partition(some)
					rest.OK(2)
					if round%2 == 0 {
						listed.Fail(2, Reason{ClassMessage, "no"})
					} else {
						listed.OK(2)
					}
				}
			})
		}
		wg.Wait()
		if outcomes.Load() != 1 || failed.Load() != (round%2 == 0) {
			t.Fatalf("round %d: %d outcomes, failed %v", round, outcomes.Load(), failed.Load())
		}
	}
}

// An owner that gives up fails what is open, a root that was refreshed at this
// very instant included, and nothing else.
func TestFailOpen(t *testing.T) {
	why := Reason{ClassTimeout, "given up"}
	var out []Outcome
	r := observe.NewRegistry()
	tally := NewTally(NewLedger("d", r, nil), func(o Outcome) { out = append(out, o) })
	now := primitives.Instant(5)
	set := tally.Open(4, now)
	tally.Seal()
	set = set.Select([]int32{1, 2, 3}, now)
	set.Touch(now + 1)
	tally.FailOpen(why)
	if len(out) != 1 {
		t.Fatal("a root is still open")
	}
	set.OK(now) // the holder ends later
	if len(out) != 1 || !out[0].Failed || out[0].Reason != why {
		t.Errorf("outcome %v", out)
	}
	if n := r.Counter(observe.AckFailed, "d", "timeout").Value(); n != 3 {
		t.Errorf("%d roots failed", n)
	}
}
