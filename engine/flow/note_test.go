package flow

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := note{revision: rapid.Uint64().Draw(t, "revision")}
		for _, id := range rapid.SliceOfDistinct(rapid.Uint64(), rapid.ID[uint64]).Draw(t, "meant") {
			n.meant = append(n.meant, consumerID(id))
		}
		slices.Sort(n.meant)
		got, err := decodeNote(n.encode())
		if err != nil || got.revision != n.revision || !slices.Equal(got.meant, n.meant) {
			t.Fatalf("%v became %v, %v", n, got, err)
		}
	})
}

// FuzzNote accepts nothing that the encoder would write otherwise.
func FuzzNote(f *testing.F) {
	f.Add(note{}.encode())
	f.Add(note{revision: 1 << 40, meant: []consumerID{7, 1 << 60}}.encode())
	f.Add([]byte{0x80, 0x00})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := decodeNote(b)
		if err == nil && !bytes.Equal(n.encode(), b) {
			t.Errorf("%x decodes to %v, which is %x", b, n, n.encode())
		}
	})
}
