package observe

import (
	"math"
	"sync/atomic"
	"time"

	"plexus/primitives"
)

// Endpoint names one end of an edge.
type Endpoint struct{ Kind, Name string }

// Edge records what passes between an operator and a relay or an external
// system, in one direction. One task records; anyone may read.
type Edge struct {
	Direction string // "received" or "sent"
	Stream    string // relay of the edge, or "-"
	Peer      Endpoint

	messages, batches, bytes *Counter
	perBatch, latency        *Histogram
	rate                     [2]decayed // 1 m, 15 m
}

// NewEdge resolves the series of an edge of target.
func NewEdge(r *Registry, domain, node string, target Endpoint, direction, stream string, peer Endpoint) *Edge {
	values := []string{domain, target.Kind, target.Name, node, direction, stream, peer.Kind, peer.Name}
	return &Edge{
		Direction: direction, Stream: stream, Peer: peer,
		messages: r.Counter(Messages, values...),
		batches:  r.Counter(Batches, values...),
		bytes:    r.Counter(Bytes, values...),
		perBatch: r.Histogram(MessagesPerBatch, values...),
		latency:  r.Histogram(DeliveryLatency, values...),
		rate:     [2]decayed{{window: time.Minute}, {window: 15 * time.Minute}},
	}
}

// Batch records one batch.
func (e *Edge) Batch(now primitives.Instant, rows int, bytes int64) {
	e.messages.Add(rows)
	e.batches.Add(1)
	e.bytes.Add(int(bytes))
	e.perBatch.Observe(float64(rows), 1)
	for i := range e.rate {
		e.rate[i].add(now, float64(rows))
	}
}

// Latency folds the time from each row's high watermark to at, in nanoseconds
// of one clock. Rows with a later watermark add nothing.
func (e *Edge) Latency(at int64, high []int64) {
	for i := 0; i < len(high); {
		run := i + 1
		for run < len(high) && high[run] == high[i] {
			run++
		}
		if d := at - high[i]; d >= 0 {
			e.latency.Observe(float64(d)/1e9, run-i)
		}
		i = run
	}
}

// EdgeSummary is what DESCRIBE shows of an edge.
type EdgeSummary struct {
	Direction, Stream        string
	Peer                     Endpoint
	Messages, Batches, Bytes uint64
	// PerSecond are the decayed message rates over one and fifteen minutes.
	PerSecond1m, PerSecond15m float64
}

// Summary reads the edge.
func (e *Edge) Summary(now primitives.Instant) EdgeSummary {
	return EdgeSummary{
		Direction: e.Direction, Stream: e.Stream, Peer: e.Peer,
		Messages: e.messages.Value(), Batches: e.batches.Value(), Bytes: e.bytes.Value(),
		PerSecond1m: e.rate[0].perSecond(now), PerSecond15m: e.rate[1].perSecond(now),
	}
}

// decayed is an exponentially decayed event rate. Its two words are written by
// one task; a reader that meets a half-written pair sees a rate that is off by
// one batch.
type decayed struct {
	window time.Duration
	weight atomic.Uint64 // bits of a float64: decayed sum of events
	at     atomic.Int64
}

func (d *decayed) add(now primitives.Instant, events float64) {
	sum := d.value(now) + events
	d.weight.Store(math.Float64bits(sum))
	d.at.Store(int64(now))
}

func (d *decayed) value(now primitives.Instant) float64 {
	sum := math.Float64frombits(d.weight.Load())
	if sum == 0 {
		return 0
	}
	elapsed := now.Sub(primitives.Instant(d.at.Load()))
	return sum * math.Exp(-float64(elapsed)/float64(d.window))
}

func (d *decayed) perSecond(now primitives.Instant) float64 {
	return d.value(now) / d.window.Seconds()
}
