package quiescetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"plexus/engine/quiesce"
	"plexus/primitives"
)

// Port is where every node serves.
const Port = 4100

// RPC carries requests between the processes of a test: one connection per
// request, which begins with the asking process.
type RPC struct {
	World primitives.World
	Self  quiesce.Process
	Nodes map[string]netip.Addr

	handlers map[byte]Handler
	streams  map[byte]StreamHandler
}

// Handler answers a request. Its error is the transport's: the asking side learns
// nothing.
type Handler func(ctx context.Context, from quiesce.Process, request []byte) ([]byte, error)

// StreamHandler answers a request with any number of messages.
type StreamHandler func(ctx context.Context, request []byte, send func([]byte) error) error

// NewRPC returns the transport of one process.
func NewRPC(w primitives.World, self quiesce.Process, nodes map[string]netip.Addr) *RPC {
	return &RPC{World: w, Self: self, Nodes: nodes, handlers: map[byte]Handler{}, streams: map[byte]StreamHandler{}}
}

// Handle registers a handler under a number.
func (r *RPC) Handle(op byte, h Handler) { r.handlers[op] = h }

// HandleStream registers a stream under a number.
func (r *RPC) HandleStream(op byte, h StreamHandler) { r.streams[op] = h }

// Serve accepts requests until ctx ends.
func (r *RPC) Serve(ctx context.Context) error {
	l, err := r.World.Net().Listen(netip.AddrPortFrom(netip.IPv4Unspecified(), Port))
	if err != nil {
		return err
	}
	stop := primitives.OnCancel(ctx, func() { l.Close() })
	defer stop()
	g := primitives.NewGroup(ctx, r.World)
	for {
		c, err := l.Accept()
		if err != nil {
			return g.Wait(context.Background())
		}
		g.Go("rpc request", func(ctx context.Context) error {
			defer c.Close()
			stop := primitives.OnCancel(ctx, func() { c.ReadBy(0); c.WriteBy(0) })
			defer stop()
			_ = r.answer(ctx, c)
			return nil
		})
	}
}

func (r *RPC) answer(ctx context.Context, c primitives.Conn) error {
	head, err := read(c)
	if err != nil {
		return err
	}
	body, err := read(c)
	if err != nil {
		return err
	}
	op, from := head[0], decodeProcess(head[1:])
	if stream := r.streams[op]; stream != nil {
		if err := stream(ctx, body, func(b []byte) error { return write(c, b) }); err != nil {
			return err
		}
		return c.CloseWrite()
	}
	answer, err := r.handlers[op](ctx, from, body)
	if err != nil {
		return err
	}
	return write(c, answer)
}

// Call asks a node, this one directly.
func (r *RPC) Call(ctx context.Context, node string, op byte, request []byte) ([]byte, error) {
	if node == r.Self.Node {
		return r.handlers[op](ctx, r.Self, request)
	}
	s, err := r.Open(ctx, node, op, request)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b, err := s.Next(ctx)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// Stream is the asking side of a request.
type Stream struct {
	c    primitives.Conn
	stop func() bool
}

// Open sends a request and returns the messages that answer it.
func (r *RPC) Open(ctx context.Context, node string, op byte, request []byte) (*Stream, error) {
	c, err := r.World.Net().Dial(ctx, netip.AddrPortFrom(r.Nodes[node], Port), primitives.Never)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", node, err)
	}
	s := &Stream{c, primitives.OnCancel(ctx, func() { c.ReadBy(0); c.WriteBy(0) })}
	if err := errors.Join(write(c, append([]byte{op}, encodeProcess(r.Self)...)), write(c, request)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Next returns the next message, io.EOF behind the last.
func (s *Stream) Next(context.Context) ([]byte, error) { return read(s.c) }

// Close ends the exchange.
func (s *Stream) Close() error {
	s.stop()
	return s.c.Close()
}

func encodeProcess(p quiesce.Process) []byte {
	b := binary.BigEndian.AppendUint64(nil, p.RaftID)
	b = binary.BigEndian.AppendUint64(b, p.Counter)
	b = append(b, p.Epoch[:]...)
	return append(b, p.Node...)
}

func decodeProcess(b []byte) quiesce.Process {
	return quiesce.Process{
		RaftID: binary.BigEndian.Uint64(b), Counter: binary.BigEndian.Uint64(b[8:]), Epoch: [16]byte(b[16:32]), Node: string(b[32:]),
	}
}

func write(c primitives.Conn, b []byte) error {
	_, err := c.Write(slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b))
	return err
}

func read(c primitives.Conn) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c, b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}
