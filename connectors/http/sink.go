package http

import (
	"context"
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/primitives/invariant"
)

var (
	askedToWait  = invariant.Sometimes("an HTTP destination asked to retry later")
	headRefused  = invariant.Sometimes("an HTTP response head was refused")
	interimHeads = invariant.Sometimes("an HTTP destination sent an interim head")
)

// noHeadError says that the connection ended, or the time, before the final head.
type noHeadError struct{ Err error }

func (e *noHeadError) Error() string { return "no complete response head" }
func (e *noHeadError) Unwrap() error { return e.Err }

// StatusError is a final status that asks for a retry.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	if e.Authentication() {
		return fmt.Sprintf("authentication refused with status %d", e.Status)
	}
	return fmt.Sprintf("status %d", e.Status)
}

// Authentication reports that the destination refused the credentials.
func (e *StatusError) Authentication() bool {
	return e.Status == 401 || e.Status == 403 || e.Status == 407
}

// Register adds the entity to a node's connectors.
func Register(into contract.Connectors) { into.Sinks[vocab.SinkHTTPRequest] = OpenSink }

// OpenSink opens a request sink. It reads the TLS files and connects to nothing.
func OpenSink(_ context.Context, plan contract.SinkPlan, env contract.Env) (contract.Sink, error) {
	config, err := vocab.ParseHTTP(plan.Client.Config)
	s := &sink{world: env.World, client: config}
	if err == nil && config.Origin.TLS {
		s.tls, err = contract.ClientTLS(env.World, config.TLS, plan.Client.Type, contract.TrustAdded, config.Origin.Host)
	}
	if err != nil {
		return nil, &contract.SinkError{Entity: vocab.SinkHTTPRequest, Operation: contract.SinkOpen, Err: err}
	}
	return s, nil
}

type sink struct {
	world  primitives.World
	client vocab.HTTPClient
	tls    *tls.Config // nil: plain
	out    []byte      // the request being written
	in     []byte      // what has been read of the response
}

func (s *sink) Publish(ctx context.Context, requests []contract.HTTPRequest) contract.Outcome {
	var out contract.Outcome
	for i := range requests {
		req := &requests[i]
		answer, err := s.exchange(ctx, req)
		if err != nil {
			out.Failure = failure(err)
			return out // H2
		}
		switch {
		case answer.status/100 == 2:
			out.Delivered = append(out.Delivered, req.ID)
		case retryable(answer.status):
			out.Failure = failure(&StatusError{answer.status})
			if askedToWait.HitIf(answer.retryAfter != "") {
				out.Failure.ReceiverDelay = retryAfter(answer.retryAfter, s.world.Clock().Wall())
			}
			return out // H2
		default:
			out.Rejected = append(out.Rejected, contract.Rejection{ID: req.ID, Code: contract.CodeExternal,
				Operation: contract.OperationPublish, Message: "HTTP status " + strconv.Itoa(answer.status)})
		}
	}
	return out
}

func retryable(status int) bool {
	switch status {
	case 401, 403, 407, 408, 425, 429:
		return true
	}
	return status/100 == 5
}

func failure(err error) *contract.AttemptFailure {
	return &contract.AttemptFailure{
		Err: &contract.SinkError{Entity: vocab.SinkHTTPRequest, Operation: contract.SinkPublish, Err: err},
	}
}

// exchange sends one request and returns its final head, all within timeout_ms.
func (s *sink) exchange(ctx context.Context, req *contract.HTTPRequest) (head, error) {
	deadline := s.world.Clock().Now().Add(s.client.Timeout)
	conn, err := dial.Undivided(ctx, s.world, s.client.Origin.Host, s.client.Origin.Port, deadline)
	if err != nil {
		return head{}, err
	}
	stop := primitives.OnCancel(ctx, func() { conn.Close() })
	defer stop()
	stream, err := contract.Secure(ctx, conn, s.tls, deadline)
	if err != nil {
		return head{}, err
	}
	defer stream.Close()
	answer, err := s.converse(stream, req)
	if err != nil && ctx.Err() != nil {
		err = primitives.Canceled(ctx)
	}
	return answer, err
}

func (s *sink) converse(stream contract.Stream, req *contract.HTTPRequest) (head, error) {
	s.out = appendRequest(s.out[:0], req, s.client.Host)
	if _, err := stream.Write(s.out); err != nil {
		return head{}, err
	}
	s.in = s.in[:0]
	for {
		answer, err := s.nextHead(stream)
		if err != nil {
			return head{}, err
		}
		if !answer.interim() {
			return answer, nil
		}
		interimHeads.Hit()
	}
}

// readBytes is how much one read asks for.
const readBytes = 4 << 10

// nextHead reads until a head is complete and takes it off the front of s.in.
func (s *sink) nextHead(stream contract.Stream) (head, error) {
	searched := 0
	for {
		if end := headEnd(s.in, searched-headEndSlack); end > 0 {
			answer, err := parseHead(s.in[:end])
			headRefused.HitIf(err != nil)
			s.in = append(s.in[:0], s.in[end:]...)
			return answer, err
		}
		searched = len(s.in)
		if searched > headBytesMax {
			headRefused.Hit()
			return head{}, errHeadTooLarge
		}
		free := cap(s.in) - len(s.in)
		if free < readBytes {
			s.in = append(make([]byte, 0, 2*len(s.in)+readBytes), s.in...)
		}
		n, err := stream.Read(s.in[len(s.in) : len(s.in)+readBytes])
		s.in = s.in[:len(s.in)+n]
		if n == 0 && err != nil {
			return head{}, &noHeadError{err}
		}
	}
}

// appendRequest writes the request. Method, target and headers have been checked;
// nothing is added to what the statement wrote but what the transport needs.
func appendRequest(out []byte, req *contract.HTTPRequest, host string) []byte {
	out = append(out, req.Method...)
	out = append(out, ' ')
	out = append(out, req.Target...)
	out = append(out, " HTTP/1.1\r\n"...)
	out = appendField(out, "Host", host)
	accept := false
	for i := range req.Headers {
		h := &req.Headers[i]
		accept = accept || strings.EqualFold(h.Name, "Accept")
		out = appendField(out, h.Name, h.Value)
	}
	if !accept {
		out = appendField(out, "Accept", "*/*")
	}
	if req.HasBody {
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(len(req.Body)), 10)
		out = append(out, "\r\n"...)
	}
	out = append(out, "Connection: close\r\n\r\n"...)
	return append(out, req.Body...)
}

func appendField(out []byte, name, value string) []byte {
	out = append(out, name...)
	out = append(out, ": "...)
	out = append(out, value...)
	return append(out, "\r\n"...)
}

// Finish has nothing to empty: no request outlives its publish.
func (s *sink) Finish(context.Context, primitives.Instant) error { return nil }

// KeepsClient is true: nothing is held between attempts, and reopening would clear
// the failure that the pending request waits out.
func (s *sink) KeepsClient() bool { return true }

func (s *sink) Close(context.Context) error { return nil }

var _ contract.HTTPRequestSink = (*sink)(nil)
