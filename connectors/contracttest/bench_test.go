package contracttest

import (
	"strings"
	"testing"
	"time"

	"plexus/primitives"
)

// BenchmarkPump moves 1,000 messages of 128 bytes per virtual second from stream
// to stream, which is what models, frames and connectors cost without an engine.
func BenchmarkPump(b *testing.B) {
	payload := []byte(strings.Repeat("x", 128))
	b.ReportAllocs()
	p := newPumpWorld(1, 100, 100)
	defer p.sim.Close()
	w := p.sim.Driver().World()
	p.sim.Go("producer", func() {
		ticker := primitives.NewTicker(w, 10*time.Millisecond)
		for ticker.Next(b.Context()) == nil {
			for range 10 {
				p.broker.Produce("in", nil, payload)
			}
		}
	})
	const messagesPerSecond = 1000
	b.ResetTimer()
	for range b.N {
		if err := p.sim.Run(time.Second); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messagesPerSecond, "ns/message")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "virtual-s/s")
}
