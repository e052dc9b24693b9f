package codec

import (
	"fmt"
	"testing"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// benchPayloads are documents of six members, 128 bytes each.
func benchPayloads() ([][]byte, []vocab.Field) {
	fields := []vocab.Field{scalar("id", vocab.I64), scalar("device", vocab.String), scalar("at", vocab.Datetime),
		scalar("temp", vocab.F64), scalar("ok", vocab.Bool), fieldOf("note", vocab.Scalar(vocab.String), true)}
	payloads := make([][]byte, 1024)
	for i := range payloads {
		payloads[i] = fmt.Appendf(nil, `{"id":%d,"device":"sensor-%04d","at":"2026-01-02T03:04:05.%03dZ","temp":%d.%02d,"ok":%t,"note":"%s"}`,
			1_000_000+i, i, i%1000, 10+i%20, i%100, i%3 == 0, "padding of text")
	}
	return payloads, fields
}

func BenchmarkDecode(b *testing.B) {
	payloads, fields := benchPayloads()
	d := decoderOf(b, planOf(true, fields...))
	g := d.NewGroup(new(batch.Pool))
	defer g.Release()
	b.ReportAllocs()
	b.SetBytes(int64(len(payloads) * len(payloads[0])))
	for b.Loop() {
		for _, p := range payloads {
			if _, err := d.Decode(p, g); err != nil {
				b.Fatal(err)
			}
		}
		g.Finish().Release()
	}
	b.ReportMetric(float64(b.N)*float64(len(payloads))/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkEncode(b *testing.B) {
	payloads, fields := benchPayloads()
	plan := planOf(true, fields...)
	d := decoderOf(b, plan)
	g := d.NewGroup(new(batch.Pool))
	defer g.Release()
	for _, p := range payloads {
		if _, err := d.Decode(p, g); err != nil {
			b.Fatal(err)
		}
	}
	rec := g.Finish()
	defer rec.Release()
	e, err := NewEncoder(plan)
	if err != nil {
		b.Fatal(err)
	}
	page := e.NewPage()
	var m Members
	b.ReportAllocs()
	for b.Loop() {
		page.Bind(rec)
		m.Reset()
		page.EncodeRows(&m, batch.All(len(payloads)))
	}
	b.SetBytes(int64(len(m.Bytes)))
	b.ReportMetric(float64(b.N)*float64(len(payloads))/b.Elapsed().Seconds(), "rows/s")
}
