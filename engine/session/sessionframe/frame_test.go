package sessionframe

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"plexus/engine/session/sessionpb"
)

// Any split of the bytes gives the same frames (frames).
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire bytes.Buffer
		var sent []*sessionpb.End
		for range rapid.IntRange(0, 5).Draw(t, "frames") {
			m := &sessionpb.End{Code: rapid.String().Draw(t, "code"), Message: rapid.String().Draw(t, "message")}
			sent = append(sent, m)
			if err := Write(&wire, End, m); err != nil {
				t.Fatal(err)
			}
		}
		whole := wire.Bytes()
		cut := rapid.IntRange(0, len(whole)).Draw(t, "cut")
		r := iotest.OneByteReader(bytes.NewReader(whole[:cut]))
		for i := 0; ; i++ {
			kind, body, err := Read(r, BytesMax)
			if errors.Is(err, io.EOF) || errors.Is(err, ErrFrame) {
				if i == len(sent) && err != io.EOF {
					t.Fatalf("after the last frame: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := new(sessionpb.End)
			if err := proto.Unmarshal(body, got); err != nil || kind != End || !proto.Equal(got, sent[i]) {
				t.Fatalf("frame %d: %v %v", i, got, err)
			}
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			if _, _, err := Read(r, 1<<16); err != nil {
				return
			}
		}
	})
}
