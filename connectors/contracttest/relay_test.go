package contracttest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay stands between a driver and a real server, so that a step can break their
// connections as a network would.
type relay struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool // both sides of every open connection
}

func newRelay(t *testing.T, target string) *relay {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		listener.Close()
		r.drop()
	})
	go r.accept()
	return r
}

func (r *relay) addr() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.target)
		if err != nil {
			in.Close()
			continue
		}
		r.mu.Lock()
		r.conns[in], r.conns[out] = true, true
		r.mu.Unlock()
		go r.copy(in, out)
		go r.copy(out, in)
	}
}

func (r *relay) copy(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, to)
	delete(r.conns, from)
}

// open returns the number of open connections.
func (r *relay) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns) / 2
}

// drop closes every connection.
func (r *relay) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns { //plexus:orderfree all are closed
		c.Close()
	}
}
