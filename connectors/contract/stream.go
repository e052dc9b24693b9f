package contract

import (
	"context"
	"crypto/tls"
	"io"

	"plexus/primitives"
)

// Stream is a dialled and, where configured, encrypted connection: the port of
// the connectors whose protocol is in-tree.
type Stream interface {
	io.ReadWriteCloser
	// By bounds the pending and every later Read and Write.
	By(primitives.Instant)
}

// Secure turns a connection into a Stream. With a TLS configuration it performs
// the handshake, until the deadline or cancellation. It owns the connection: a
// failed handshake closes it.
func Secure(ctx context.Context, conn primitives.Conn, config *tls.Config, deadline primitives.Instant) (Stream, error) {
	s := &stream{ReadWriteCloser: conn, conn: conn}
	s.By(deadline)
	if config == nil {
		return s, nil
	}
	stop := primitives.OnCancel(ctx, func() { conn.Close() })
	defer stop()
	secured := tls.Client(conn, config)
	if err := secured.Handshake(); err != nil {
		conn.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	s.ReadWriteCloser = secured
	return s, nil
}

type stream struct {
	io.ReadWriteCloser
	conn primitives.Conn
}

func (s *stream) By(at primitives.Instant) {
	s.conn.ReadBy(at)
	s.conn.WriteBy(at)
}
