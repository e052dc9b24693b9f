package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTimersFireInOrder compares the heap with a sorted list.
func TestTimersFireInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type armed struct {
			at  int64
			seq int
			t   *timer
		}
		var h timers
		var want []armed
		seq := 0
		t.Repeat(map[string]func(*rapid.T){
			"arm": func(t *rapid.T) {
				a := armed{rapid.Int64Range(0, 50).Draw(t, "at"), seq, &timer{}}
				seq++
				h.arm(a.t, a.at)
				want = append(want, a)
			},
			"disarm": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				h.disarm(want[i].t)
				if want[i].t.armed() {
					t.Fatal("still armed")
				}
				want = slices.Delete(want, i, i+1)
			},
			"fire": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip()
				}
				first := slices.MinFunc(want, func(a, b armed) int {
					if a.at != b.at {
						return int(a.at - b.at)
					}
					return a.seq - b.seq
				})
				if h.heap[0].t != first.t {
					t.Fatalf("timer of %d is first, want %d", h.heap[0].at, first.at)
				}
				h.disarm(first.t)
				want = slices.DeleteFunc(want, func(a armed) bool { return a.t == first.t })
			},
			"": func(t *rapid.T) {
				if len(h.heap) != len(want) {
					t.Fatalf("%d timers, want %d", len(h.heap), len(want))
				}
				for i, e := range h.heap {
					if int(e.t.index) != i+1 {
						t.Fatalf("timer %d believes to be at %d", i, e.t.index-1)
					}
				}
			},
		})
	})
}
