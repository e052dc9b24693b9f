package sim

import (
	"crypto/rand"
	"testing"
	"time"
)

func TestSystemRandomnessIsSeeded(t *testing.T) {
	read := func() (p [16]byte) {
		s := New(Options{Seed: 11})
		defer s.Close()
		w := s.Host("node-1").World()
		w.Tasks().Go("reader", func() { rand.Reader.Read(p[:]) })
		if err := s.Run(time.Second); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if a, b := read(), read(); a != b || a == [16]byte{} {
		t.Errorf("%x and %x", a, b)
	}
}
