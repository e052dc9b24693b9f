package observe

import (
	"math"
	"sync/atomic"
)

// Counter only grows. The zero value is ready.
type Counter struct{ v atomic.Uint64 }

// Add adds n.
func (c *Counter) Add(n int) { c.v.Add(uint64(n)) }

// Value returns the total.
func (c *Counter) Value() uint64 { return c.v.Load() }

// Gauge goes up and down. The zero value is ready.
type Gauge struct{ v atomic.Int64 }

// Add adds n, which may be negative.
func (g *Gauge) Add(n int) { g.v.Add(int64(n)) }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.v.Store(n) }

// Value returns the current value.
func (g *Gauge) Value() int64 { return g.v.Load() }

// Histogram counts values per bucket.
type Histogram struct {
	bounds []float64
	counts []atomic.Uint64
	sum    atomic.Uint64 // bits of a float64
}

// Observe counts n values of v.
func (h *Histogram) Observe(v float64, n int) {
	at := len(h.bounds)
	for i, bound := range h.bounds {
		if v <= bound {
			at = i
			break
		}
	}
	h.counts[at].Add(uint64(n))
	for {
		old := h.sum.Load()
		next := math.Float64bits(math.Float64frombits(old) + float64(v*float64(n)))
		if h.sum.CompareAndSwap(old, next) {
			return
		}
	}
}

func (h *Histogram) read() (cumulative []uint64, sum float64) {
	cumulative = make([]uint64, len(h.counts))
	var total uint64
	for i := range h.counts {
		total += h.counts[i].Load()
		cumulative[i] = total
	}
	return cumulative, math.Float64frombits(h.sum.Load())
}
