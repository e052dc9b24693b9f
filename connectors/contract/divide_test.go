package contract

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// A part is measured by a function that need not grow with its members, as codecs
// with dictionaries behave.
func TestDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Uint64Range(1, 40), 0, 60).Draw(t, "sizes")
		odd := rapid.Uint64Range(0, 3).Draw(t, "odd")
		d := Division{
			Members:  len(sizes),
			CountMax: rapid.IntRange(1, 20).Draw(t, "count"),
			BytesMax: rapid.Uint64Range(1, 100).Draw(t, "bytes"),
		}
		measured := 0
		measure := func(start, end int) uint64 {
			measured++
			total := uint64(0)
			for _, s := range sizes[start:end] {
				total += s
			}
			if odd > 0 && uint64(end-start)%(odd+1) == 0 {
				total /= 2
			}
			return total
		}
		next := 0
		for {
			before := measured
			part, more := d.Next(measure)
			if !more {
				break
			}
			calls := measured - before
			if part.Start != next || part.End <= part.Start || part.End > len(sizes) {
				t.Fatalf("part %+v after member %d", part, next)
			}
			if part.End-part.Start > d.CountMax {
				t.Fatalf("part %+v above the count", part)
			}
			if part.Fits != (part.Size <= d.BytesMax) || !part.Fits && part.End-part.Start != 1 {
				t.Fatalf("part %+v does not fit", part)
			}
			candidate := min(d.CountMax, len(sizes)-part.Start)
			if bound := bits.Len(uint(candidate-1)) + 1; calls > bound {
				t.Fatalf("%d measurements of %d members, at most %d", calls, candidate, bound)
			}
			next = part.End
		}
		if next != len(sizes) {
			t.Fatalf("ended at %d of %d", next, len(sizes))
		}
	})
}
