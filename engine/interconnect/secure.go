package interconnect

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var mixedSeen = invariant.Sometimes("plaintext met TLS")

// secured is a channel under TLS 1.3. Package tls holds locks while it writes, and
// its reader writes alerts; so that no task ever waits for the network under such
// a lock, records are collected and written outside.
type secured struct {
	conn    primitives.Conn
	tls     *tls.Conn
	buffers *pool
	records *primitives.Queue[[]byte]
	running atomic.Bool // the handshake is over
	pieces  [][]byte    // of the writing task
}

// recordsMax is what one piece of a batch and an alert can become, and more.
const recordsMax = 64

// Read implements channel.
func (s *secured) Read(p []byte) (int, error) { return s.tls.Read(p) }

// CloseWrite implements channel.
func (s *secured) CloseWrite() error { return s.conn.CloseWrite() }

// Close implements channel.
func (s *secured) Close() error { return s.conn.Close() }

// writeAll implements channel.
func (s *secured) writeAll(pieces [][]byte) error {
	if !s.running.Load() {
		for _, p := range pieces {
			if _, err := s.tls.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range pieces {
		if _, err := s.tls.Write(p); err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the collected records.
func (s *secured) flush() error {
	s.pieces = s.pieces[:0]
	for r, ok := s.records.TryRecv(); ok; r, ok = s.records.TryRecv() {
		s.pieces = append(s.pieces, r)
	}
	if len(s.pieces) == 0 {
		return nil
	}
	buffers := net.Buffers(append([][]byte(nil), s.pieces...))
	_, err := buffers.WriteTo(s.conn)
	for _, r := range s.pieces {
		s.buffers.put(r)
	}
	return err
}

// recorder is the connection as package tls sees it.
type recorder struct {
	primitives.Conn
	s *secured
}

var errRecords = errors.New("more records than one write can become")

// Write collects a record once the handshake is over.
func (r recorder) Write(p []byte) (int, error) {
	if !r.s.running.Load() {
		return r.Conn.Write(p)
	}
	record := r.s.buffers.get(len(p))
	copy(record, p)
	if !r.s.records.TrySend(record) {
		return 0, errRecords
	}
	return len(p), nil
}

func (m *Mesh) newSecured(conn primitives.Conn, role func(net.Conn, *tls.Config) *tls.Conn, config *tls.Config) (*secured, *certified, error) {
	s := &secured{conn: conn, buffers: &m.buffers, records: primitives.NewQueue[[]byte](m.world, recordsMax)}
	s.tls = role(recorder{conn, s}, config)
	// Handshake, not HandshakeContext, which would start a goroutine; the deadline of
	// the connection bounds it.
	if err := s.tls.Handshake(); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) && record.Conn != nil {
			if speaksHTTP(record.RecordHeader[:]) {
				return nil, nil, ErrHTTP
			}
			mixedSeen.Hit()
			return nil, nil, &SetupError{Code: SetupTransport, Detail: "the peer speaks plaintext, this node has certificates; all nodes of a cluster have them, or none"}
		}
		return nil, nil, handshakeError(err)
	}
	peer := s.tls.ConnectionState().PeerCertificates[0]
	identity, err := certifiedBy(peer)
	if err != nil {
		return nil, nil, &SetupError{Code: SetupCertificate, Detail: err.Error()}
	}
	s.running.Store(true)
	return s, identity, nil
}

// config is what both sides have in common.
func (m *Mesh) tlsConfig(b *bundle) *tls.Config {
	return &tls.Config{
		Time:                        m.world.Clock().Wall,
		Certificates:                []tls.Certificate{b.certificate},
		RootCAs:                     b.authorities,
		ClientCAs:                   b.authorities,
		ClientAuth:                  tls.RequireAndVerifyClientCert,
		MinVersion:                  tls.VersionTLS13,
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true,
	}
}

// secureDialled makes a dialled connection fit for frames. host is the advertised
// one: the certificate must cover it whichever address answered.
func (m *Mesh) secureDialled(conn primitives.Conn, host string) (channel, *certified, error) {
	if m.credentials == nil {
		remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		if !m.settings.Insecure && (err != nil || !remote.Addr().Unmap().IsLoopback()) {
			return nil, nil, &SetupError{Code: SetupTransport, Detail: ErrInsecure.Error()}
		}
		return plain{conn}, nil, nil
	}
	config := m.tlsConfig(m.credentials.current.Load())
	config.ServerName = host
	s, identity, err := m.newSecured(conn, tls.Client, config)
	if err != nil {
		return nil, nil, err
	}
	return s, identity, nil
}

func (m *Mesh) secureAccepted(conn primitives.Conn) (channel, *certified, error) {
	if m.credentials == nil {
		return plain{conn}, nil, nil
	}
	s, identity, err := m.newSecured(conn, tls.Server, m.tlsConfig(m.credentials.current.Load()))
	if err != nil {
		return nil, nil, err
	}
	return s, identity, nil
}

// unexpectedMessage is a TLS alert.
var unexpectedMessage = []byte{0x15, 3, 3, 0, 2, 2, 10}

// mixed reports whether one side has certificates and the other none.
func mixed(err error) bool {
	var refused *SetupError
	return errors.As(err, &refused) && refused.Code == SetupTransport
}

// handshakeError says what does not fit, where that is known.
func handshakeError(err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &authority):
		return fmt.Errorf("the certificate of the peer is not under the authority of --interconnect-tls-ca: %w", err)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the peer does not hold the name %s, under which it was dialled (plexusd tls issue --host): %w", name.Host, err)
	case errors.Is(err, tls.AlertError(alertBadCertificate)), errors.Is(err, tls.AlertError(alertUnknownAuthority)):
		return fmt.Errorf("the peer does not accept the certificate of this node: %w", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// The alerts about certificates.
const (
	alertBadCertificate   = 42
	alertUnknownAuthority = 48
)

// speaksHTTP reports whether the first bytes of an answer are those of an HTTP server.
func speaksHTTP(head []byte) bool { return bytes.HasPrefix(head, []byte("HTTP/")) }

// speaksTLS reports whether the first bytes of a connection that should carry
// frames are a TLS record: no frame can begin like that.
func speaksTLS(head []byte) bool {
	const handshake, alert = 0x16, 0x15
	return len(head) >= 2 && (head[0] == handshake || head[0] == alert) && head[1] == 3
}
