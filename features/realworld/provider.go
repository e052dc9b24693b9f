package realworld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Provider starts one kind of external system for a run.
type Provider interface {
	// Missing returns why the system cannot run here, or "".
	Missing() string
	// Start returns the address, host:port, and how to end it.
	Start() (address string, stop func() error, err error)
}

// Local returns the providers of the local world.
func Local(scratch string) map[string]Provider {
	return map[string]Provider{
		"nats":  &embeddedNATS{store: scratch},
		"redis": &installedRedis{dir: scratch},
	}
}

// embeddedNATS is the NATS server module inside the test process.
type embeddedNATS struct{ store string }

func (*embeddedNATS) Missing() string { return "" }

func (p *embeddedNATS) Start() (string, func() error, error) {
	store, err := os.MkdirTemp(p.store, "nats-")
	if err != nil {
		return "", nil, err
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: store, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return "", nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		s.Shutdown()
		return "", nil, errors.New("the embedded NATS server is not ready after 20s")
	}
	return s.Addr().String(), func() error {
		s.Shutdown()
		s.WaitForShutdown()
		return nil
	}, nil
}

// installedRedis is the redis-server or valkey-server found on PATH.
type installedRedis struct{ dir string }

func (p *installedRedis) program() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither redis-server nor valkey-server is on PATH (make servers installs it on Debian)")
}

func (p *installedRedis) Missing() string {
	if _, err := p.program(); err != nil {
		return err.Error()
	}
	return ""
}

func (p *installedRedis) Start() (string, func() error, error) {
	program, err := p.program()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(p.dir, "redis-")
	if err != nil {
		return "", nil, err
	}
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "no", "--dir", dir}
	child, err := spawn(program, args, nil, dir, dir+"/log")
	if err != nil {
		return "", nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := reachable(context.Background(), address, 20*time.Second); err != nil {
		child.end()
		return "", nil, fmt.Errorf("redis: %w", err)
	}
	return address, func() error { child.end(); return nil }, nil
}

// reachable waits until the address takes connections.
func reachable(ctx context.Context, address string, within time.Duration) error {
	for deadline := time.Now().Add(within); ; {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s not reachable within %s: %w", address, within, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Ports that no outgoing connection takes, below the range of the operating system:
// a node that restarts finds its own still free.
const portsFrom, portsTo = 20000, 32000

// nextPort is where the search goes on. Runs beside each other begin apart.
var nextPort atomic.Uint32

func init() { nextPort.Store(uint32(os.Getpid()) * 997) }

func freePort() (int, error) {
	for range portsTo - portsFrom {
		port := portsFrom + int(nextPort.Add(1)%(portsTo-portsFrom))
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no port from %d to %d is free", portsFrom, portsTo)
}

// servers starts each provider on its first use and ends what it started.
type servers struct {
	providers map[string]Provider
	mu        sync.Mutex
	running   map[string]string
	stops     []func() error
}

func (s *servers) address(kind string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if address, ok := s.running[kind]; ok {
		return address, nil
	}
	provider, ok := s.providers[kind]
	if !ok {
		return "", fmt.Errorf("no provider for %s", kind)
	}
	address, stop, err := provider.Start()
	if err != nil {
		return "", err
	}
	if s.running == nil {
		s.running = map[string]string{}
	}
	s.running[kind] = address
	s.stops = append(s.stops, stop)
	return address, nil
}

func (s *servers) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stop := range s.stops {
		errs = append(errs, stop())
	}
	s.stops = nil
	return errors.Join(errs...)
}
