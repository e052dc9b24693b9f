package trace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"plexus/sim"
)

func run(t *testing.T, seed uint64, extra bool) (*bytes.Buffer, sim.Trace) {
	t.Helper()
	out := &bytes.Buffer{}
	w := NewWriter(out, Header{Scenario: "test", Seed: seed})
	s := sim.New(sim.Options{Seed: seed, Tracer: w})
	defer s.Close()
	label := s.Label("turn")
	for range 3 {
		s.Go("walker", func() {
			for i := range 3000 {
				s.Sleep(time.Millisecond, "next step")
				s.Mark(label, uint64(i), 0)
				if extra && i == 2000 {
					s.Mark(label, 0, 1)
				}
			}
		})
	}
	if err := s.Run(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out, s.Trace()
}

func open(t *testing.T, r io.Reader) *Reader {
	t.Helper()
	f, err := NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFileHoldsTheWholeRun(t *testing.T) {
	file, ran := run(t, 1, false)
	f := open(t, file)
	var tail []sim.Record
	var named bool
	for {
		r, err := f.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		tail = append(tail, r)
		named = named || strings.Contains(f.Render(r), "driver/walker")
	}
	if uint64(len(tail)) != ran.Events || f.digest != ran.Checkpoints[len(ran.Checkpoints)-1] || !named {
		t.Fatalf("%d of %d events, digest %x, named %v", len(tail), ran.Events, f.digest, named)
	}
	for i, r := range ran.Recent {
		if got := tail[len(tail)-len(ran.Recent)+i]; got != r {
			t.Fatalf("read %+v, ran %+v", got, r)
		}
	}
}

func TestDiffFindsTheFirstDifference(t *testing.T) {
	a, _ := run(t, 1, false)
	same, _ := run(t, 1, false)
	other, _ := run(t, 1, true)
	if d, err := Diff(open(t, bytes.NewReader(a.Bytes())), open(t, same)); d != nil || err != nil {
		t.Fatalf("equal runs differ: %v %v", d, err)
	}
	d, err := Diff(open(t, a), open(t, other))
	if err != nil || d == nil || len(d.Common) != contextRecords || !strings.Contains(d.B, "turn") {
		t.Fatalf("%v, %v", d, err)
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	file, _ := run(t, 1, false)
	if _, err := NewReader(strings.NewReader("{}\n")); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
	f := open(t, bytes.NewReader(file.Bytes()[:file.Len()-1]))
	for {
		if _, err := f.Next(); err != nil {
			if err != io.ErrUnexpectedEOF {
				t.Errorf("got %v", err)
			}
			return
		}
	}
}
