package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"plexus/primitives"
)

// requestWithin bounds one HTTP exchange of the harness.
const requestWithin = 20 * time.Second

// Request is one HTTP request of a step.
type Request struct {
	Method, Host, Path string
	Headers            []string // "name: value"
	Body               string
}

// Response is what came back.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Exchange sends one request on a connection of its own over the world's network
// and reads the complete answer.
func Exchange(ctx context.Context, w primitives.World, address string, r Request) (*Response, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	deadline := w.Clock().Now().Add(requestWithin)
	conn, err := w.Net().Dial(ctx, to, deadline)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.ReadBy(deadline)
	conn.WriteBy(deadline)
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.Method, r.Path, r.Host)
	for _, header := range r.Headers {
		fmt.Fprintf(&head, "%s\r\n", header)
	}
	if r.Body != "" || r.Method == http.MethodPost || r.Method == http.MethodPut {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", len(r.Body))
	}
	// A server may answer and close before it read the whole body, so the answer is
	// awaited while the body is written, and a failed write is reported only without
	// one.
	var wrote error
	written := primitives.NewEvent(w)
	w.Tasks().Go("request", func() {
		_, wrote = io.WriteString(conn, head.String()+"\r\n"+r.Body)
		written.Set()
	})
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.Method})
	if err != nil {
		conn.Close()
		if waiting := written.Wait(ctx); waiting != nil {
			return nil, waiting
		}
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, errors.Join(err, wrote))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("body of %s %s: %w", r.Method, r.Path, err)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: string(body)}, nil
}
