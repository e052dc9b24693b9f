package http

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// Request is what a caller sends to an endpoint.
type Request struct {
	Method  string // POST if empty
	Host    string // the Host header
	Path    string
	Headers []contract.Header
	Body    []byte
}

// Response is what the endpoint answered.
type Response struct {
	Status     int
	RetryAfter time.Duration // 0: none
	Headers    http.Header
	Body       string
}

// Call sends one request on a connection of its own and returns the answer. An
// error means that none came by the deadline.
func Call(ctx context.Context, w primitives.World, addr netip.AddrPort, req Request, deadline primitives.Instant) (Response, error) {
	conn, err := w.Net().Dial(ctx, addr, deadline)
	if err != nil {
		return Response{}, err
	}
	defer conn.Close()
	stop := primitives.OnCancel(ctx, func() { conn.Close() })
	defer stop()
	conn.ReadBy(deadline)
	conn.WriteBy(deadline)
	if req.Method == "" {
		req.Method = http.MethodPost
	}
	out := http.Request{
		Method: req.Method, Host: req.Host, URL: &url.URL{Path: req.Path}, Header: http.Header{}, Close: true,
		Body: http.NoBody, ContentLength: int64(len(req.Body)),
	}
	if len(req.Body) > 0 { // an empty reader would be probed by a goroutine
		out.Body = io.NopCloser(bytes.NewReader(req.Body))
	}
	for _, h := range req.Headers {
		out.Header.Add(h.Name, h.Value)
	}
	if err := out.Write(conn); err != nil {
		return Response{}, err
	}
	in, err := http.ReadResponse(bufio.NewReader(conn), &out)
	if err != nil {
		return Response{}, err
	}
	body, err := io.ReadAll(in.Body)
	response := Response{Status: in.StatusCode, Headers: in.Header, Body: string(body)}
	if seconds, err := strconv.Atoi(in.Header.Get("Retry-After")); err == nil {
		response.RetryAfter = time.Duration(seconds) * time.Second
	}
	return response, err
}
