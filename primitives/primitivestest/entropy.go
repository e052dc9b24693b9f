package primitivestest

import "plexus/primitives"

var entropyCases = []testCase{
	{"draws differ", func(t *test) {
		e := t.w.Entropy()
		seen := map[uint64]bool{}
		for range 1000 {
			seen[e.Uint64()] = true
		}
		t.that(len(seen) == 1000, "%d different numbers of 1000", len(seen))
		var p [64]byte
		n, err := e.Read(p[:])
		t.that(n == len(p) && err == nil && p != [64]byte{}, "read %d bytes, %v", n, err)
	}},
	{"streams are independent", func(t *test) {
		a, b := t.w.Entropy().Stream("a"), t.w.Entropy().Stream("b")
		t.that(a.Uint64() != b.Uint64(), "two streams drew the same")
	}},
	{"identifiers are ordered by time", func(t *test) {
		now := t.w.Clock().Wall()
		a := primitives.NewUUIDv7(t.w.Entropy(), now)
		b := primitives.NewUUIDv7(t.w.Entropy(), now.Add(1e6))
		t.that(a.String() < b.String() && a[6]>>4 == 7 && a[8]>>6 == 2, "identifiers %s, %s", a, b)
		c := primitives.NewUUIDv4(t.w.Entropy())
		t.that(c[6]>>4 == 4 && c[8]>>6 == 2 && len(c.String()) == 36, "identifier %s", c)
	}},
}
