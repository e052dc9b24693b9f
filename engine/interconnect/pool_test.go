package interconnect

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPoolProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1<<poolShiftMin, 1<<poolShiftMax).Draw(r, "bytes")
		class, size := poolClass(n)
		if size < n || size > n+n/8+1 || class < 0 || class >= poolClasses {
			r.Fatalf("%d bytes: class %d of %d", n, class, size)
		}
		if again, whole := poolClass(size); again != class || whole != size {
			r.Fatalf("a buffer of %d bytes: class %d of %d, came from %d", size, again, whole, class)
		}
	})
	p := new(pool)
	for _, n := range []int{0, 1, 8192, 8193, 16384, 70_000, 1 << 22, 1<<22 + 1} {
		b := p.get(n)
		if len(b) != n {
			t.Errorf("%d bytes of %d", len(b), n)
		}
		p.put(b)
		if again := p.get(n); n > 8192 && n <= 1<<22 && &again[0] != &b[0] {
			t.Errorf("a buffer of %d bytes was not used again", n)
		}
	}
	if kept := p.kept.Load(); kept != 0 {
		t.Errorf("%d bytes are kept by nobody", kept)
	}
	for range 100 {
		p.put(make([]byte, 1<<22))
		p.put(make([]byte, 20_000)) // not of the pool
	}
	if kept := p.kept.Load(); kept == 0 || kept > poolBytesMax {
		t.Errorf("%d bytes are kept", kept)
	}
}
