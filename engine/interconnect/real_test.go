package interconnect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/real/certificates"
)

// realCredentials writes the files of two nodes on loopback.
func realCredentials(tb testing.TB) func(i int, s *Settings) {
	tb.Helper()
	dir := tb.TempDir()
	authority, ca, err := certificates.NewAuthority("default", time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	write := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			tb.Fatal(err)
		}
		return name
	}
	return func(i int, s *Settings) {
		id := []string{"n1", "n2"}[i]
		pair, err := authority.Issue(certificates.Node{ID: id, Hosts: []string{"127.0.0.1"}}, time.Now())
		if err != nil {
			tb.Fatal(err)
		}
		s.TLS = &CredentialFiles{
			CA: write("ca.pem", ca.Certificate), Certificate: write(id+".pem", pair.Certificate), Key: write(id+".key", pair.Key),
		}
	}
}

// TestRealBuild lets many tasks of two nodes exchange everything at once, on real
// sockets, with and without TLS.
func TestRealBuild(t *testing.T) {
	for _, secure := range []bool{false, true} {
		name := "plain"
		var edit func(int, *Settings)
		if secure {
			name, edit = "tls", realCredentials(t)
		}
		t.Run(name, func(t *testing.T) {
			pair := realPair(t, edit, func(m *Mesh) {
				echo(m)
				m.Handle(RaftMessage, func(context.Context, Process, []byte) ([]byte, error) { return nil, nil })
				m.HandleStream(RelayBody, func(_ context.Context, _ Process, s *Stream) error {
					for {
						b, err := s.Recv()
						if errors.Is(err, io.EOF) {
							return s.Send([]byte("done"))
						}
						if err != nil {
							return err
						}
						if len(b) > 0 && b[0] != b[len(b)-1] {
							return errors.New("mixed bytes")
						}
						s.Recycle(b)
					}
				})
				m.HandleTransfer(ResourceFetch, func(context.Context, Process, []byte) (*Source, error) {
					return SourceOf(make([]byte, 500_000)), nil
				})
			})
			w := pair[0].world
			tasks := primitives.NewGroup(context.Background(), w)
			for i, m := range pair {
				other := []string{"n2", "n1"}[i]
				for k := range 4 {
					tasks.Go("caller", func(ctx context.Context) error {
						for n := range 100 {
							request := bytes.Repeat([]byte{byte(n)}, n*n*k)
							answer, err := m.Call(ctx, other, RuntimeDescribe, request)
							if err != nil {
								return err
							}
							if !bytes.Equal(answer, request) {
								return errors.New("another answer")
							}
							m.Send(other, RaftMessage, request[:min(len(request), 1000)])
							m.Announce(func(a *Announcement) { a.Applied++ })
						}
						return nil
					})
					tasks.Go("streamer", func(ctx context.Context) error {
						s, err := m.Open(ctx, other, RelayBody)
						if err != nil {
							return err
						}
						defer s.Close()
						for n := range 100 {
							if err := s.Send(bytes.Repeat([]byte{byte(n)}, n*2000)); err != nil {
								return err
							}
						}
						if err := s.CloseSend(); err != nil {
							return err
						}
						_, err = s.Recv()
						return err
					})
					tasks.Go("fetcher", func(ctx context.Context) error {
						_, err := m.FetchAll(ctx, other, ResourceFetch, nil, 1<<20)
						return err
					})
				}
			}
			if err := tasks.Wait(context.Background()); err != nil {
				t.Error(err)
			}
			for class, memory := range pair[0].memory {
				if !memory.Try(memory.Size()) {
					t.Errorf("memory of class %s is not back", Class(class))
				}
				memory.Give(memory.Size())
			}
		})
	}
}
