package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

const (
	// InlineBytesMax is what travels as one message.
	InlineBytesMax = 2 << 20
	// ChunkBytesMax bounds one message of a stream.
	ChunkBytesMax = 64 << 10
)

// Remote fetches the bytes of containers from other nodes.
type Remote interface {
	// Inline returns a whole container of at most InlineBytesMax.
	Inline(ctx context.Context, node string, ref Ref) ([]byte, error)
	// Open begins a stream of chunks at an offset.
	Open(ctx context.Context, node string, ref Ref, offset uint64) (Chunks, error)
}

// Chunks is a stream of container bytes.
type Chunks interface {
	// Next returns at most ChunkBytesMax bytes, io.EOF behind the last.
	Next(ctx context.Context) ([]byte, error)
	Close() error
}

const (
	// attemptsMax ends a transfer that makes no progress.
	attemptsMax = 5
	retryFirst  = 200 * time.Millisecond
)

var (
	transferResumed = invariant.Sometimes("a transfer of state went on where its connection was lost")
	transferCorrupt = invariant.Sometimes("a transfer of state did not match its digest")
)

// TransferError says that the bytes of a container could not be fetched. What the
// receiver had before is untouched.
type TransferError struct {
	Ref  Ref
	Node string
	Err  error
}

func (e *TransferError) Error() string {
	return fmt.Sprintf("fetch %s from node '%s': %v", e.Ref.Placement, e.Node, e.Err)
}

func (e *TransferError) Unwrap() error { return e.Err }

var (
	errSurplus = errors.New("more bytes than announced")
	errShort   = errors.New("fewer bytes than announced")
	errDigest  = errors.New("the bytes do not match the digest")
	errForeign = errors.New("the container is of another placement or revision")
)

// Fetch brings a container into staging. What it returns is complete: its length
// and digest were checked, then every section. It is not durable yet. A lost
// connection is taken up again where it ended.
func (s *Staging) Fetch(ctx context.Context, remote Remote, node string, ref Ref) (*Staged, error) {
	st, file, err := s.create(ref.Length)
	if err != nil {
		return nil, &TransferError{ref, node, err}
	}
	f := &fetch{staging: s, remote: remote, node: node, ref: ref, file: file}
	err = f.run(ctx)
	if err = errors.Join(err, file.Close()); err == nil {
		err = st.admit(ref)
	}
	if err != nil {
		return nil, errors.Join(&TransferError{ref, node, err}, st.Discard())
	}
	return st, nil
}

// admit verifies a complete file as a container.
func (st *Staged) admit(ref Ref) error {
	c, err := OpenContainer(st.staging.world.Files(), st.path)
	if err != nil {
		return err
	}
	got, err := c.Verify()
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	if got != ref && !planted.Active(planted.InstallUnverified) {
		return errForeign
	}
	st.Ref = ref
	return nil
}

// fetch is one transfer.
type fetch struct {
	staging *Staging
	remote  Remote
	node    string
	ref     Ref
	file    primitives.File
	have    uint64
}

// run fetches until the bytes are complete and match.
func (f *fetch) run(ctx context.Context) error {
	pause, failed, corrupt := retryFirst, 0, false
	for {
		began := f.have
		err := f.attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return primitives.Canceled(ctx)
		}
		if errors.Is(err, errDigest) || errors.Is(err, errSurplus) {
			if transferCorrupt.Hit(); corrupt {
				return err
			}
			corrupt = true
			if err := f.file.Truncate(0); err != nil {
				return err
			}
			f.have = 0
		}
		if failed++; f.have > began {
			failed, pause = 1, retryFirst
		}
		if failed >= attemptsMax {
			return err
		}
		if err := primitives.Sleep(ctx, f.staging.world, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

// attempt fetches what is missing and checks the whole.
func (f *fetch) attempt(ctx context.Context) error {
	if f.have < f.ref.Length {
		fetch := f.stream
		if f.ref.Length <= InlineBytesMax {
			fetch = f.inline
		}
		if err := fetch(ctx); err != nil {
			return err
		}
	}
	whole := sha256.New()
	if err := passFile(f.file, int64(f.ref.Length), func(b []byte) error { whole.Write(b); return nil }); err != nil {
		return err
	}
	if [32]byte(whole.Sum(nil)) != f.ref.Digest && !planted.Active(planted.InstallUnverified) {
		return errDigest
	}
	return nil
}

func (f *fetch) inline(ctx context.Context) error {
	b, err := f.remote.Inline(ctx, f.node, f.ref)
	if err != nil {
		return err
	}
	if uint64(len(b)) < f.ref.Length {
		return errShort
	}
	return f.add(b)
}

func (f *fetch) stream(ctx context.Context) (err error) {
	transferResumed.HitIf(f.have > 0)
	chunks, err := f.remote.Open(ctx, f.node, f.ref, f.have)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chunks.Close()) }()
	for {
		b, err := chunks.Next(ctx)
		if errors.Is(err, io.EOF) {
			if f.have < f.ref.Length {
				return errShort
			}
			return nil
		}
		if err != nil {
			return err
		}
		if len(b) > ChunkBytesMax {
			return errSurplus
		}
		if err := f.add(b); err != nil {
			return err
		}
	}
}

// add appends bytes that arrived.
func (f *fetch) add(b []byte) error {
	if uint64(len(b)) > f.ref.Length-f.have {
		return errSurplus
	}
	if _, err := f.file.WriteAt(b, int64(f.have)); err != nil {
		return err
	}
	f.have += uint64(len(b))
	return nil
}

// Serve sends the bytes of a file from an offset, in chunks, until send fails.
func Serve(file io.ReaderAt, ref Ref, offset uint64, send func(chunk []byte) error) error {
	if offset > ref.Length {
		return fmt.Errorf("offset %d is behind the end of %d bytes", offset, ref.Length)
	}
	for at := offset; at < ref.Length; {
		b := make([]byte, min(ref.Length-at, ChunkBytesMax))
		if err := readFull(file, b, int64(at)); err != nil {
			return err
		}
		if err := send(b); err != nil {
			return err
		}
		at += uint64(len(b))
	}
	return nil
}
