package contract

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// EndpointServer is the node's HTTP listener for endpoints: net/http in the real
// build, HTTP/1.1 over the simulated network in the other. Routing, intake and
// every answer belong to the handler.
type EndpointServer interface {
	// Start binds the listener and serves until Close. An address in use is
	// syscall.EADDRINUSE.
	Start(handler EndpointHandler) error
	// Addr is the bound address, known after Start.
	Addr() netip.AddrPort
	// Close stops accepting, lets running requests end until ctx does, then closes
	// every connection and waits for every task.
	Close(ctx context.Context) error
}

// EndpointHandler answers one request. It runs in a task of its own; ctx ends
// when the caller hangs up or the server is closed for good.
type EndpointHandler func(ctx context.Context, req *EndpointRequest) EndpointAnswer

// EndpointRequest is one request whose body has not been read.
type EndpointRequest struct {
	Method  string
	Host    string // lower case, without port
	Path    string // as sent, without query; percent escapes decoded
	Headers []Header
	// ReadBody returns the whole body, at most EndpointBodyBytesMax bytes:
	// ErrBodyTooLarge above it, ErrBodyUnreadable when the caller breaks off.
	// The bytes belong to the caller of ReadBody.
	ReadBody func() ([]byte, error)
}

// EndpointAnswer is the complete answer. Body is plain text.
type EndpointAnswer struct {
	Status     int
	RetryAfter time.Duration // 0: no Retry-After; else whole seconds, rounded up
	Body       string
}

// EndpointBodyBytesMax is the node's limit on one request body.
const EndpointBodyBytesMax = 16 << 20

// What ReadBody can fail with.
var (
	ErrBodyTooLarge   = errors.New("request body exceeds 16 MiB")
	ErrBodyUnreadable = errors.New("request body cannot be read")
)

// RetryAfterSeconds is the value of a Retry-After field: whole seconds, rounded
// up.
func RetryAfterSeconds(d time.Duration) int64 {
	return int64((d + time.Second - 1) / time.Second)
}
