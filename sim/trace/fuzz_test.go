package trace

import (
	"bytes"
	"testing"

	"plexus/sim"
)

// FuzzReader feeds hostile files: they end or fail, and never more records come
// out than bytes went in.
func FuzzReader(f *testing.F) {
	var out bytes.Buffer
	w := NewWriter(&out, Header{Scenario: "seed"})
	w.Name(sim.KindSpawn, 1, "host/task")
	w.Record(sim.Record{Kind: sim.KindRun, Task: 1, A: 3})
	w.Checkpoint(7)
	w.Record(sim.Record{At: 5, Kind: sim.KindUnpark, Task: 1, A: 1})
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		for n := 0; ; n++ {
			rec, err := r.Next()
			if err != nil {
				return
			}
			if n > len(data) {
				t.Fatal("more records than bytes")
			}
			_ = r.Render(rec)
		}
	})
}
