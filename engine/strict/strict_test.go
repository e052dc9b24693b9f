package strict

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"plexus/engine/quiesce/quiescepb"
)

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	want := &quiescepb.Request{Floor: 3, Scope: &quiescepb.Scope{Domain: "d", Sources: []*quiescepb.Entity{{Kind: 1, Name: "x"}}}}
	b, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(quiescepb.Request)
	if err := Decode(b, got); err != nil || got.GetScope().GetSources()[0].GetName() != "x" {
		t.Fatalf("%v %v", got, err)
	}
	stranger := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	scope := func(inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), inner)
	}
	source := protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), stranger)
	for _, bad := range []struct {
		what  string
		bytes []byte
	}{
		{"at the top", append(bytes.Clone(b), stranger...)}, {"in a message", scope(stranger)},
		{"in a list", scope(source)}, {"cut off", b[:len(b)-1]},
	} {
		if err := Decode(bad.bytes, new(quiescepb.Request)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", bad.what, err)
		}
	}
	if _, err := Fixed[[16]byte]("epoch", b[:3]); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}
