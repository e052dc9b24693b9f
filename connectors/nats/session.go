package nats

import (
	"context"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// session is the connection of a source. It is never repaired (N1).
type session struct {
	link   link
	entity vocab.SourceEntity
	conn   Conn // nil: not connected
}

func (s *session) NeedsResume() bool { return s.conn == nil || s.conn.Err() != nil }

// resume replaces a connection that is gone. join makes on the new one, until the
// deadline, what the source reads from.
func (s *session) resume(ctx context.Context, join func(conn Conn, deadline primitives.Instant) error) (contract.Resumed, error) {
	if !s.NeedsResume() {
		return contract.Resumed{}, nil
	}
	s.disconnect()
	conn, deadline, err := s.link.connect(ctx)
	if err != nil {
		return contract.Resumed{}, s.fail(contract.SourceResume, err)
	}
	if err := join(conn, deadline); err != nil {
		conn.Close()
		return contract.Resumed{}, s.fail(contract.SourceResume, err)
	}
	s.conn = conn
	return contract.Resumed{}, nil
}

func (s *session) Suspend(context.Context) error {
	s.disconnect()
	return nil
}

func (s *session) Close(context.Context) error {
	s.disconnect()
	return nil
}

func (s *session) disconnect() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

func (s *session) fail(op contract.SourceOperation, err error) error {
	return &contract.SourceError{Entity: s.entity, Operation: op, Err: err}
}
