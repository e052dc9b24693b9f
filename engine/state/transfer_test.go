package state

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

// fakeRemote serves one container and does to it what networks do.
type fakeRemote struct {
	bytes   []byte
	inline  int
	opened  []uint64
	breakAt func(n int) (after uint64, err error) // of the nth stream
	change  func(n int, b []byte) []byte          // of the nth stream or message
	world   primitives.World
}

var errBroken = errors.New("connection reset")

func (r *fakeRemote) Inline(context.Context, string, Ref) ([]byte, error) {
	n := r.inline
	r.inline++
	if r.breakAt != nil {
		if _, err := r.breakAt(n); err != nil {
			return nil, err
		}
	}
	b := bytes.Clone(r.bytes)
	if r.change != nil {
		b = r.change(n, b)
	}
	return b, nil
}

func (r *fakeRemote) Open(_ context.Context, _ string, _ Ref, offset uint64) (Chunks, error) {
	n := len(r.opened)
	r.opened = append(r.opened, offset)
	b := bytes.Clone(r.bytes[offset:])
	if r.change != nil {
		b = r.change(n, b)
	}
	c := &fakeChunks{bytes: b}
	if r.breakAt != nil {
		after, err := r.breakAt(n)
		if c.err = err; err != nil && after < uint64(len(b)) {
			c.bytes = b[:after]
		}
	}
	return c, nil
}

type fakeChunks struct {
	bytes  []byte
	err    error
	closed bool
}

func (c *fakeChunks) Next(context.Context) ([]byte, error) {
	n := min(len(c.bytes), ChunkBytesMax)
	if n == 0 {
		if c.err != nil {
			return nil, c.err
		}
		return nil, io.EOF
	}
	b := c.bytes[:n]
	c.bytes = c.bytes[n:]
	return b, nil
}

func (c *fakeChunks) Close() error { return nil }

// large is a checkpoint that does not travel in one message.
func large(t *testing.T) (*Snapshot, []byte, Ref) {
	s := &Snapshot{Placement: testPlacement(1), Revision: 1}
	for i := range 3 {
		s.Sections = append(s.Sections, Section{SectionBytes, bytes.Repeat([]byte{byte(i), 7, 9}, 1<<18)})
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	return s, encoded(t, s), ref
}

func small(t *testing.T) (*Snapshot, []byte, Ref) {
	s := testSnapshot(1, 1)
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	return s, encoded(t, s), ref
}

// fetched runs one transfer on a fresh machine and returns what is staged.
func fetched(t *testing.T, r *fakeRemote, ref Ref, limit uint64, then func(staging *Staging, st *Staged, err error)) {
	on(t, func(_ *sim.Host, ctx context.Context, w primitives.World) {
		r.world = w
		staging, err := OpenStaging(w, "data", limit)
		must(err)
		st, err := staging.Fetch(ctx, r, "node-2", ref)
		then(staging, st, err)
	})
}

func TestTransfersArrive(t *testing.T) {
	for _, make := range []func(*testing.T) (*Snapshot, []byte, Ref){small, large} {
		want, b, ref := make(t)
		r := &fakeRemote{bytes: b}
		fetched(t, r, ref, 1<<30, func(staging *Staging, st *Staged, err error) {
			must(err)
			if st.Ref != ref || staging.Used() != ref.Length {
				t.Errorf("%d staged", staging.Used())
			}
			if inline := ref.Length <= InlineBytesMax; inline != (len(r.opened) == 0) || inline != (r.inline == 1) {
				t.Errorf("%d bytes: %d messages, streams from %v", ref.Length, r.inline, r.opened)
			}
			store := openStore(r.world)
			if done, err := store.Install(st); err != nil || !done || staging.Used() != 0 {
				t.Errorf("installed %t %v, %d staged", done, err, staging.Used())
			}
			c, err := store.Open(ref.Placement)
			must(err)
			defer c.Close()
			if got, err := c.Snapshot(); err != nil || len(got.Sections) != len(want.Sections) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A lost connection goes on where it ended.
func TestTransfersResume(t *testing.T) {
	_, b, ref := large(t)
	r := &fakeRemote{bytes: b, breakAt: func(n int) (uint64, error) {
		if n < 9 {
			return 200_001, errBroken
		}
		return 0, nil
	}}
	fetched(t, r, ref, 1<<30, func(_ *Staging, _ *Staged, err error) {
		must(err)
		for n, offset := range r.opened {
			if offset != uint64(n)*200_001 {
				t.Errorf("stream %d begins at %d", n, offset)
			}
		}
	})
}

func TestTransfersThatFailLeaveNothing(t *testing.T) {
	_, whole, ref := large(t)
	_, one, oneRef := small(t)
	flip := func(n int, b []byte) []byte { b[len(b)/2] ^= 4; return b }
	foreign := oneRef
	foreign.Revision = 7
	for _, c := range []struct {
		what  string
		r     *fakeRemote
		ref   Ref
		limit uint64
		cause error
	}{
		{"no connection", &fakeRemote{bytes: one, breakAt: func(int) (uint64, error) { return 0, errBroken }}, oneRef, 1 << 30, errBroken},
		{"no progress", &fakeRemote{bytes: whole, breakAt: func(n int) (uint64, error) { return 0, errBroken }}, ref, 1 << 30, errBroken},
		{"corrupt message", &fakeRemote{bytes: one, change: flip}, oneRef, 1 << 30, errDigest},
		{"corrupt stream", &fakeRemote{bytes: whole, change: flip}, ref, 1 << 30, errDigest},
		{"surplus", &fakeRemote{bytes: append(bytes.Clone(whole), 1)}, ref, 1 << 30, errSurplus},
		{"short message", &fakeRemote{bytes: one[:len(one)-1]}, oneRef, 1 << 30, errShort},
		{"another container", &fakeRemote{bytes: one}, foreign, 1 << 30, errForeign},
		{"no room", &fakeRemote{bytes: whole}, ref, 1 << 20, &StagingFullError{1 << 20, 0, ref.Length}},
	} {
		fetched(t, c.r, c.ref, c.limit, func(staging *Staging, _ *Staged, err error) {
			var transfer *TransferError
			if !errors.As(err, &transfer) || transfer.Node != "node-2" {
				t.Errorf("%s: %v", c.what, err)
			}
			var full *StagingFullError
			if errors.As(c.cause, &full) {
				var got *StagingFullError
				if !errors.As(err, &got) || *got != *full {
					t.Errorf("%s: %v", c.what, err)
				}
			} else if !errors.Is(err, c.cause) {
				t.Errorf("%s: %v", c.what, err)
			}
			list, _ := c.r.world.Files().List("data/staging/state")
			if staging.Used() != 0 || len(list) != 0 {
				t.Errorf("%s: %d bytes are charged, %v is left", c.what, staging.Used(), list)
			}
		})
	}
}

// One corrupt attempt is fetched again from its beginning.
func TestCorruptTransfersAreFetchedAgain(t *testing.T) {
	_, whole, ref := large(t)
	r := &fakeRemote{bytes: whole, change: func(n int, b []byte) []byte {
		if n == 0 {
			b[100] ^= 1
		}
		return b
	}}
	fetched(t, r, ref, 1<<30, func(_ *Staging, _ *Staged, err error) {
		if err != nil || len(r.opened) != 2 || r.opened[1] != 0 {
			t.Errorf("%v, streams from %v", err, r.opened)
		}
	})
}

// The quota is charged before the first byte and a start begins with none of it.
func TestStagingIsAccounted(t *testing.T) {
	on(t, func(_ *sim.Host, ctx context.Context, w primitives.World) {
		staging, err := OpenStaging(w, "data", 1000)
		must(err)
		var kept []*Staged
		for {
			st, err := staging.Capture(testSnapshot(1, uint64(len(kept)+1)))
			if err != nil {
				var full *StagingFullError
				if !errors.As(err, &full) || full.Limit != 1000 || full.Used+full.Requested <= 1000 {
					t.Errorf("%v", err)
				}
				break
			}
			kept = append(kept, st)
		}
		if len(kept) < 2 {
			t.Errorf("%d fit", len(kept))
		}
		for _, st := range kept[1:] {
			if err := errors.Join(st.Discard(), st.Discard()); err != nil {
				t.Error(err)
			}
		}
		if used := staging.Used(); used != kept[0].Ref.Length {
			t.Errorf("%d bytes are charged", used)
		}
		again, err := OpenStaging(w, "data", 1000)
		if err != nil || again.Used() != 0 {
			t.Error(err)
		}
		if list, err := w.Files().List("data/staging/state"); err != nil || len(list) != 0 {
			t.Errorf("left: %v %v", list, err)
		}
		_ = ctx
	})
}

func TestServeSendsFromAnOffset(t *testing.T) {
	_, b, ref := large(t)
	var got []byte
	chunks := 0
	if err := Serve(memory(b), ref, 70_000, func(chunk []byte) error {
		got, chunks = append(got, chunk...), chunks+1
		return nil
	}); err != nil || !bytes.Equal(got, b[70_000:]) || chunks != (len(b)-70_000+ChunkBytesMax-1)/ChunkBytesMax {
		t.Errorf("%d bytes in %d chunks: %v", len(got), chunks, err)
	}
	if err := Serve(memory(b), ref, ref.Length+1, nil); err == nil {
		t.Error("an offset behind the end is served")
	}
}

// A cancelled transfer ends at once.
func TestTransfersAreCancelled(t *testing.T) {
	_, b, ref := large(t)
	on(t, func(_ *sim.Host, ctx context.Context, w primitives.World) {
		staging, err := OpenStaging(w, "data", 1<<30)
		must(err)
		bounded, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(time.Second))
		defer cancel()
		began := w.Clock().Now()
		r := &fakeRemote{bytes: b, breakAt: func(n int) (uint64, error) { return 10, errBroken }}
		if _, err := staging.Fetch(bounded, r, "node-2", ref); !errors.Is(err, primitives.ErrDeadline) || w.Clock().Now().Sub(began) > 2*time.Second {
			t.Errorf("%v after %v", err, w.Clock().Now().Sub(began))
		}
	})
}
