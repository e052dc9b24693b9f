package main

import (
	"slices"
	"testing"
)

// TestBothSidesDoTheSame runs each side over the pool once.
func TestBothSidesDoTheSame(t *testing.T) {
	pool := records()
	p, err := newPipeline()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := p.run(pool, len(pool))
	if err != nil {
		t.Fatal(err)
	}
	peer, err := runBenthos(pool, len(pool), 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := (result{int64(len(pool) / 2), int64(len(pool)/2) * recordBytes}); ours != want || peer != want {
		t.Fatalf("ours %v, peer %v, want %v", ours, peer, want)
	}
}

func BenchmarkPipeline(b *testing.B) {
	pool := records()
	p, err := newPipeline()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(batchRows * recordBytes)
	at := 0
	for b.Loop() {
		if err := p.batch(pool[at : at+batchRows]); err != nil {
			b.Fatal(err)
		}
		at = (at + batchRows) % len(pool)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchRows, "ns/row")
}

// TestLanguagesRead runs each task of reading and printing once.
func TestLanguagesRead(t *testing.T) {
	ours, peers, err := languages()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range slices.Concat(ours, peers) {
		if err := task.run(); err != nil {
			t.Errorf("%s: %v", task.name, err)
		}
	}
}
