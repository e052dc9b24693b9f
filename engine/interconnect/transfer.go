package interconnect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	transferShort   = invariant.Sometimes("a transfer ended early or late")
	transferStalled = invariant.Sometimes("a transfer stood still for too long")
)

// ErrLength says that a transfer brought fewer or more bytes than it declared.
var ErrLength = errors.New("a transfer of another length than declared")

// chunkBytes is how much one message of a transfer carries.
const chunkBytes = 32 << 10

// Source is what a transfer sends: exactly Length bytes of Read. Close, if any, is
// called once the transfer ended either way.
type Source struct {
	Length int64
	Read   func(p []byte) (int, error)
	Close  func()
}

// SourceOf is a source of bytes in memory.
func SourceOf(b []byte) *Source {
	rest := b
	return &Source{Length: int64(len(b)), Read: func(p []byte) (int, error) {
		if len(rest) == 0 {
			return 0, io.EOF
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	}}
}

// HandleTransfer serves an operation of the form Transfer.
func (m *Mesh) HandleTransfer(op Operation, h func(ctx context.Context, from Process, request []byte) (*Source, error)) {
	m.HandleStream(op, func(ctx context.Context, from Process, s *Stream) error {
		request, err := s.Recv()
		if err != nil {
			return err
		}
		source, err := h(ctx, from, request)
		if err != nil {
			return err
		}
		if source.Close != nil {
			defer source.Close()
		}
		return s.transfer(source)
	})
}

// transfer sends the length and then the bytes.
func (s *Stream) transfer(source *Source) error {
	if err := s.Send(binary.BigEndian.AppendUint64(nil, uint64(source.Length))); err != nil {
		return err
	}
	for left := source.Length; left > 0; {
		chunk := make([]byte, min(left, chunkBytes))
		n, err := source.Read(chunk)
		left -= int64(n)
		if n > 0 {
			if err := s.Send(chunk[:n]); err != nil {
				return err
			}
		}
		if err != nil && left > 0 {
			return fmt.Errorf("%w: %d bytes are missing: %w", ErrLength, left, err)
		}
	}
	return nil
}

// Body is a transfer being received. It must be closed; closing it early makes
// the sender stop.
type Body struct {
	// Length is what the sender declared.
	Length int64
	stream *Stream
	left   int64
	chunk  []byte
	err    error
}

// Fetch asks a member for a transfer, within the time of the operation for its
// opening. The transfer fails when five seconds bring nothing.
func (m *Mesh) Fetch(ctx context.Context, node string, op Operation, request []byte) (*Body, error) {
	s, err := m.Open(ctx, node, op)
	if err != nil {
		return nil, err
	}
	b, err := s.body(request)
	if err != nil {
		s.Close()
		return nil, err
	}
	return b, nil
}

// FetchAll is Fetch of a whole transfer of at most so many bytes.
func (m *Mesh) FetchAll(ctx context.Context, node string, op Operation, request []byte, most int64) ([]byte, error) {
	b, err := m.Fetch(ctx, node, op, request)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if b.Length > most {
		return nil, b.stream.c.transportError(PhaseDecode, op, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, b.Length, most))
	}
	all := make([]byte, b.Length)
	if _, err := io.ReadFull(b, all); err != nil {
		return nil, err
	}
	// The end belongs to the transfer: surplus bytes would make it another one.
	if _, err := b.Read(nil); !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
}

func (s *Stream) body(request []byte) (*Body, error) {
	if err := s.send(request, true); err != nil {
		return nil, err
	}
	w := s.c.m.world
	head, err := s.recvBy(w.Clock().Now().Add(s.op.Within()), PhaseTimeout)
	switch {
	case errors.Is(err, io.EOF):
		return nil, s.c.transportError(PhaseDecode, s.op, ErrForm)
	case err != nil:
		return nil, err
	case len(head) != 8 || head[0]&0x80 != 0:
		return nil, s.c.transportError(PhaseDecode, s.op, fmt.Errorf("%w: a length of %d bytes", ErrMalformed, len(head)))
	}
	length := int64(binary.BigEndian.Uint64(head))
	return &Body{Length: length, stream: s, left: length}, nil
}

// Read implements io.Reader. io.EOF comes after exactly Length bytes.
func (b *Body) Read(p []byte) (int, error) {
	if len(b.chunk) == 0 && b.err == nil {
		b.next()
	}
	if len(b.chunk) == 0 {
		return 0, b.err
	}
	n := copy(p, b.chunk)
	b.chunk = b.chunk[n:]
	return n, nil
}

// next takes the next message of the transfer.
func (b *Body) next() {
	s := b.stream
	chunk, err := s.recvBy(s.c.m.world.Clock().Now().Add(progressWithin), PhaseFlow)
	b.left -= int64(len(chunk))
	switch {
	case errors.Is(err, io.EOF) && b.left == 0:
		b.err = io.EOF
	case errors.Is(err, io.EOF), err == nil && (b.left < 0 || len(chunk) == 0):
		transferShort.Hit()
		b.err = s.c.transportError(PhaseDecode, s.op, fmt.Errorf("%w: %d bytes", ErrLength, b.Length))
		b.Close()
	case err != nil:
		b.err = err
	default:
		b.chunk = chunk
	}
}

// Close ends the transfer.
func (b *Body) Close() {
	if b.err == nil {
		b.err = primitives.ErrClosed
	}
	b.chunk = nil
	b.stream.Close()
}
