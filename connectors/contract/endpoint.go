package contract

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"plexus/primitives"
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

// The rest of this file is what the two adapters have in common.

// Fields returns the header fields of the answer.
func (a EndpointAnswer) Fields() []Header {
	fields := []Header{{"Content-Type", "text/plain; charset=utf-8"}}
	if a.RetryAfter > 0 {
		seconds := (a.RetryAfter + time.Second - 1) / time.Second
		fields = append(fields, Header{"Retry-After", strconv.FormatInt(int64(seconds), 10)})
	}
	if a.Status == 405 {
		fields = append(fields, Header{"Allow", "POST"})
	}
	return fields
}

// ReadEndpointBody reads a whole body for EndpointRequest.ReadBody.
func ReadEndpointBody(body io.Reader, declared int64) ([]byte, error) {
	if declared > EndpointBodyBytesMax {
		return nil, ErrBodyTooLarge
	}
	content := make([]byte, 0, max(declared, 0)+1)
	for {
		n, err := body.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case len(content) > EndpointBodyBytesMax:
			return nil, ErrBodyTooLarge
		case err == io.EOF:
			return content, nil
		case err != nil:
			return nil, ErrBodyUnreadable
		case len(content) == cap(content):
			content = append(content, 0)[:len(content)]
		}
	}
}

// EndpointHost is the name in a Host field: lower case, without port.
func EndpointHost(field string) string {
	host := field
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host = host[:colon]
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// EndpointHeaders lists the fields of a parsed request: Host, then the names in
// lexical order with the values of a name as they came. Values that are not UTF-8
// are left out.
func EndpointHeaders(host string, parsed map[string][]string) []Header {
	headers := []Header{{"Host", host}}
	for _, name := range primitives.SortedKeys(parsed) {
		for _, value := range parsed[name] {
			if utf8.ValidString(value) {
				headers = append(headers, Header{name, value})
			}
		}
	}
	return headers
}
