package contract

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawFields(t *rapid.T) StateFields {
	keys := rapid.SliceOfNDistinct(rapid.StringN(0, 40, 300), 0, stateFieldsMax, rapid.ID).Draw(t, "keys")
	fields := make(StateFields, len(keys))
	for i, key := range keys {
		fields[i].Key = key
		if fields[i].IsText = rapid.Bool().Draw(t, "text"); fields[i].IsText {
			fields[i].Text = rapid.StringN(0, -1, 1000).Draw(t, "value")
		} else {
			fields[i].Uint = rapid.Uint64().Draw(t, "value")
		}
	}
	return fields
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t)
		encoded, err := fields.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := DecodeState(encoded)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if f.IsText {
				if got, ok := decoded.Text(f.Key); !ok || got != f.Text {
					t.Fatalf("%q: %q", f.Key, got)
				}
			} else if got, ok := decoded.Uint(f.Key); !ok || got != f.Uint {
				t.Fatalf("%q: %d", f.Key, got)
			}
		}
		for i, j := 0, len(fields)-1; i < j; i, j = i+1, j-1 {
			fields[i], fields[j] = fields[j], fields[i]
		}
		again, err := fields.Encode()
		if err != nil || !bytes.Equal(again, encoded) {
			t.Fatal("encoding depends on the order of fields")
		}
		if cut := rapid.IntRange(0, len(encoded)-1).Draw(t, "cut"); true {
			if _, err := DecodeState(encoded[:cut]); !errors.Is(err, ErrStateMalformed) {
				t.Fatalf("truncated at %d: %v", cut, err)
			}
		}
	})
}

func TestStateIsMessagePack(t *testing.T) {
	encoded, err := StateFields{{Key: "word", Uint: 300}, {Key: "at", IsText: true, Text: "x"}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if want := "\x82\xa2at\xa1x\xa4word\xcd\x01\x2c"; string(encoded) != want {
		t.Fatalf("%q, want %q", encoded, want)
	}
}

func TestStateBounds(t *testing.T) {
	large := StateFields{{Key: "k", IsText: true, Text: strings.Repeat("x", StateBytesMax-6)}}
	encoded, err := large.Encode()
	if err != nil || len(encoded) != StateBytesMax {
		t.Fatalf("%d bytes, %v", len(encoded), err)
	}
	if _, err := DecodeState(encoded); err != nil {
		t.Fatal(err)
	}
	large[0].Text += "x"
	if _, err := large.Encode(); !errors.Is(err, ErrStateTooLarge) {
		t.Fatal(err)
	}
	if _, err := (StateFields{{Key: "a"}, {Key: "a"}}).Encode(); !errors.Is(err, ErrStateMalformed) {
		t.Fatal(err)
	}
}

func TestStateOfAnother(t *testing.T) {
	encoded, _ := StateFields{{Key: "n", Uint: 1}}.Encode()
	state := State{Connector: "RANDOM SEQUENCE", Version: 1, Bytes: encoded}
	if _, err := state.RestoreFields("RANDOM SEQUENCE", 1, "n"); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []State{
		{Connector: "POSTGRES TABLE", Version: 1, Bytes: encoded},
		{Connector: "RANDOM SEQUENCE", Version: 2, Bytes: encoded},
		{Connector: "RANDOM SEQUENCE", Version: 1},
	} {
		if _, err := broken.RestoreFields("RANDOM SEQUENCE", 1, "n"); err == nil {
			t.Errorf("%+v was restored", broken)
		}
	}
	if _, err := state.RestoreFields("RANDOM SEQUENCE", 1, "n", "m"); err == nil {
		t.Error("a missing member was not noticed")
	}
	if _, err := state.RestoreFields("RANDOM SEQUENCE", 1, "m"); err == nil {
		t.Error("a foreign member was not noticed")
	}
}

func FuzzDecodeState(f *testing.F) {
	seed, _ := StateFields{{Key: "sequence", Uint: 1 << 40}, {Key: "text", IsText: true, Text: strings.Repeat("x", 300)}}.Encode()
	f.Add(seed)
	f.Add([]byte("\x81\xa1k\xcc\x05"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		fields, err := DecodeState(encoded)
		if err != nil {
			return
		}
		again, err := fields.Encode()
		if err != nil || !bytes.Equal(again, encoded) {
			t.Fatalf("%x decodes and encodes to %x, %v", encoded, again, err)
		}
	})
}
