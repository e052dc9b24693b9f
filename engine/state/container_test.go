package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/strict"
)

func drawSnapshot(t *rapid.T) *Snapshot {
	name := rapid.StringMatching(`[a-z_]{1,8}`)
	digest := func(label string) (d [32]byte) {
		if rapid.Bool().Draw(t, label) {
			copy(d[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label+" bytes"))
		}
		return d
	}
	s := &Snapshot{
		Placement: Placement{
			Identity: Identity{
				Domain: name.Draw(t, "domain"), Entity: name.Draw(t, "entity"), Name: name.Draw(t, "name"),
				Component:   Component(rapid.IntRange(int(SourceCursor), int(GuestState)).Draw(t, "component")),
				Fingerprint: digest("fingerprint"), Generation: rapid.Uint64().Draw(t, "generation"),
			},
			Branch: digest("branch"),
		},
		Revision: rapid.Uint64().Draw(t, "revision"), Fence: rapid.Uint64().Draw(t, "fence"), Incarnation: rapid.Uint64().Draw(t, "incarnation"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "sections") {
		s.Sections = append(s.Sections, Section{
			SectionKind(rapid.IntRange(int(SectionBytes), int(SectionKeys)).Draw(t, "kind")),
			rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes"),
		})
	}
	return s
}

// encoded returns the bytes of a container.
func encoded(t interface{ Fatal(...any) }, s *Snapshot) []byte {
	b, err := s.encodeHeader()
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range s.Sections {
		b = append(b, section.Bytes...)
	}
	return b
}

// readAllOf reads a container as a whole.
func readAllOf(b []byte) (*Snapshot, Ref, error) {
	c, err := openContainer(memory(b), "test")
	if err != nil {
		return nil, Ref{}, err
	}
	s, err := c.Snapshot()
	if err != nil {
		return nil, Ref{}, err
	}
	ref, err := c.Verify()
	return s, ref, err
}

func TestContainersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawSnapshot(t)
		got, ref, err := readAllOf(encoded(t, want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v %v, want %+v", got, err, want)
		}
		if named, err := want.Ref(); err != nil || named != ref {
			t.Fatalf("%+v %v, want %+v", named, err, ref)
		}
		b, err := ref.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeRef(b); err != nil || back != ref {
			t.Fatalf("%+v %v, want %+v", back, err, ref)
		}
	})
}

// Damage of any byte fails the container as a whole, and the error names it.
func TestDamageOfAnyByteIsDetected(t *testing.T) {
	s := &Snapshot{
		Placement: Placement{Identity: Identity{Domain: "d", Entity: "relay", Name: "r", Component: MaterializedRelay, Fingerprint: [32]byte{7}}, Branch: [32]byte{1}},
		Revision:  3, Fence: 2, Incarnation: 1,
		Sections: []Section{{SectionRecords, bytes.Repeat([]byte("record "), 9)}, {SectionKeys, nil}, {SectionKeys, []byte("key")}},
	}
	whole := encoded(t, s)
	for i := range whole {
		for _, bit := range []byte{1, 0x10, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= bit
			_, _, err := readAllOf(b)
			var damage *ContainerError
			if !errors.As(err, &damage) || damage.File != "test" {
				t.Fatalf("byte %d, bit %#x: %v", i, bit, err)
			}
		}
	}
	for n := range whole {
		if _, _, err := readAllOf(whole[:n]); err == nil {
			t.Fatalf("cut to %d bytes it reads", n)
		}
	}
	if _, _, err := readAllOf(append(bytes.Clone(whole), 0)); err == nil {
		t.Fatal("with a byte behind it reads")
	}
}

func TestSectionsAreBounded(t *testing.T) {
	s := &Snapshot{Placement: testPlacement(1), Sections: []Section{{SectionBytes, make([]byte, SectionBytesMax+1)}}}
	if _, err := s.encodeHeader(); err == nil {
		t.Error("a section above its bound is written")
	}
}

func testPlacement(branch byte) Placement {
	return Placement{Identity: Identity{Domain: "d", Entity: "junction", Name: "j", Component: WindowContents, Fingerprint: [32]byte{9}}, Branch: [32]byte{branch}}
}

// FuzzStateContainer: any bytes are refused with a typed error or are a container
// that is read completely, in bounded memory.
func FuzzStateContainer(f *testing.F) {
	for n := range 3 {
		s := &Snapshot{Placement: testPlacement(byte(n)), Revision: uint64(n)}
		for i := range n {
			s.Sections = append(s.Sections, Section{SectionBytes, fmt.Appendf(nil, "section %d", i)})
		}
		b := encoded(f, s)
		f.Add(b)
		f.Add(b[prefixBytes : prefixBytes+int(binary.LittleEndian.Uint32(b[4:]))])
	}
	f.Add([]byte("PXS1\x00\x00\x10\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, total, err := decodeHeader(b); err == nil { // behind the digest that guards it
			if total > sectionsMax*SectionBytesMax {
				t.Fatalf("sections of %d bytes", total)
			}
		} else if !errors.Is(err, strict.ErrFormat) {
			t.Fatalf("an untyped refusal: %v", err)
		}
		got, ref, err := readAllOf(b)
		if err != nil {
			var damage *ContainerError
			if !errors.As(err, &damage) {
				t.Fatalf("an untyped refusal: %v", err)
			}
			return
		}
		if ref.Length != uint64(len(b)) {
			t.Fatalf("%d bytes are named as %d", len(b), ref.Length)
		}
		if again, _, err := readAllOf(encoded(t, got)); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v became %+v: %v", got, again, err)
		}
	})
}
