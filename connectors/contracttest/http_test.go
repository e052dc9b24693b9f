package contracttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/http"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/primitives/dns"
	"plexus/sim"
	"plexus/sim/brokers"
	model "plexus/sim/brokers/http"
)

// misbehaviour is what the server does with the next request.
type misbehaviour uint8

const (
	behave misbehaviour = iota
	resetAfterBody
	truncateHead
	oversizeHead
	interimHead
	lateHead
)

// httpServer is what a suite needs of a server, from outside.
type httpServer interface {
	origin() string
	// answer sets status and Retry-After of the next requests; seconds 0 for none.
	answer(status int, retryAfter int)
	// next lets the next request go wrong.
	next(misbehaviour)
	// seen returns "METHOD target body" of every complete request.
	seen() []string
	// header returns the values of a header of the last request.
	header(name string) []string
}

type httpSession struct {
	ctx    context.Context
	w      primitives.World
	server httpServer
	events events
}

func (s *httpSession) open(timeoutMillis string) (contract.HTTPRequestSink, error) {
	sink, err := connector.OpenSink(s.ctx, contract.SinkPlan{
		Entity: vocab.SinkHTTPRequest,
		Client: contract.Client{Name: "partner", Type: vocab.ClientHTTP, Config: []vocab.ConfigEntry{
			{Key: "endpoint", Value: s.server.origin()}, {Key: "timeout_ms", Value: timeoutMillis},
		}},
	}, env(s.w, &s.events))
	if err != nil {
		return nil, err
	}
	return sink.(contract.HTTPRequestSink), nil
}

func requests(bodies ...string) []contract.HTTPRequest {
	out := make([]contract.HTTPRequest, len(bodies))
	for i, body := range bodies {
		out[i] = contract.HTTPRequest{
			ID: contract.RecordID(i + 1), Method: "PUT", Target: fmt.Sprintf("/r/%d?k=%d", i+1, i+1), Body: []byte(body), HasBody: true,
		}
	}
	return out
}

type httpStep struct {
	name string
	run  func(s *httpSession) error
}

var httpSteps = []httpStep{
	{"requests arrive in order as they were built", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		reqs := requests("a", "b", "")
		reqs[2].Method, reqs[2].HasBody = "DELETE", false
		reqs[1].Headers = []contract.Header{{Name: "Idempotency-Key", Value: "k ü"}, {Name: "accept", Value: "text/plain"}}
		out := outcome(sink.Publish(s.ctx, reqs[:2]))
		if err := errors.Join(equal("publish", out, "delivered [1 2]"),
			equal("key", s.server.header("Idempotency-Key"), "[k ü]"), equal("accept", s.server.header("Accept"), "[text/plain]")); err != nil {
			return err
		}
		out = outcome(sink.Publish(s.ctx, reqs[2:]))
		return errors.Join(equal("publish", out, "delivered [3]"), equal("accept", s.server.header("Accept"), "[*/*]"),
			equal("seen", s.server.seen(), "[PUT /r/1?k=1 a PUT /r/2?k=2 b DELETE /r/3?k=3 ]"))
	}},
	{"a final refusal rejects its record and goes on", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		s.server.answer(404, 0)
		return equal("publish", outcome(sink.Publish(s.ctx, requests("a", "b"))),
			"delivered [] rejected 1 external/publish: HTTP status 404 rejected 2 external/publish: HTTP status 404")
	}},
	{"a redirect is not followed", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		s.server.answer(302, 0)
		return equal("publish", outcome(sink.Publish(s.ctx, requests("a"))), "delivered [] rejected 1 external/publish: HTTP status 302")
	}},
	{"a retry status keeps this and the later requests", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		for _, status := range []int{408, 425, 429, 500, 503, 599, 401, 403, 407} {
			s.server.answer(status, 7)
			before := len(s.server.seen())
			out := sink.Publish(s.ctx, requests("a", "b"))
			var refused *connector.StatusError
			if !errors.As(out.Failure.Err, &refused) || refused.Status != status {
				return fmt.Errorf("status %d: %w", status, out.Failure.Err)
			}
			if err := errors.Join(equal("publish", outcome(out), "delivered [] failed publish"),
				equal("requests", len(s.server.seen())-before, 1),
				equal("delay", out.Failure.ReceiverDelay, 7*time.Second)); err != nil {
				return err
			}
		}
		s.server.answer(200, 0)
		return equal("publish", outcome(sink.Publish(s.ctx, requests("a", "b"))), "delivered [1 2]")
	}},
	{"an interim head is skipped", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		s.server.next(interimHead)
		return equal("publish", outcome(sink.Publish(s.ctx, requests("a"))), "delivered [1]")
	}},
	{"no complete head means no outcome", func(s *httpSession) error {
		sink, err := s.open("2000")
		if err != nil {
			return err
		}
		for _, m := range []misbehaviour{resetAfterBody, truncateHead, oversizeHead} {
			s.server.next(m)
			if err := equal(fmt.Sprint("publish ", m), outcome(sink.Publish(s.ctx, requests("a"))), "delivered [] failed publish"); err != nil {
				return err
			}
		}
		return errors.Join(equal("publish", outcome(sink.Publish(s.ctx, requests("a"))), "delivered [1]"),
			equal("requests", len(s.server.seen()), 4))
	}},
	{"a head that is late ends at the timeout", func(s *httpSession) error {
		sink, err := s.open("300")
		if err != nil {
			return err
		}
		s.server.next(lateHead)
		return within(s.w, 400*time.Millisecond, func() error {
			return equal("publish", outcome(sink.Publish(s.ctx, requests("a"))), "delivered [] failed publish")
		})
	}},
	{"cancellation ends a request that waits", func(s *httpSession) error {
		sink, err := s.open("30000")
		if err != nil {
			return err
		}
		s.server.next(lateHead)
		ctx, cancel := primitives.WithDeadline(s.ctx, s.w, s.w.Clock().Now().Add(200*time.Millisecond))
		defer cancel()
		return within(s.w, 300*time.Millisecond, func() error {
			return equal("publish", outcome(sink.Publish(ctx, requests("a"))), "delivered [] failed publish")
		})
	}},
	{"a refused connection and an unknown host are failures with their cause", func(s *httpSession) error {
		for _, c := range []struct {
			host   string
			target any
		}{{"127.0.0.1:1", new(*dial.Error)}, {"no.such.host.invalid.", new(*dns.LookupError)}} {
			sink, err := connector.OpenSink(s.ctx, contract.SinkPlan{
				Entity: vocab.SinkHTTPRequest,
				Client: contract.Client{Name: "partner", Type: vocab.ClientHTTP, Config: []vocab.ConfigEntry{
					{Key: "endpoint", Value: "http://" + c.host}, {Key: "timeout_ms", Value: "500"},
				}},
			}, env(s.w, &s.events))
			if err != nil {
				return err
			}
			out := sink.(contract.HTTPRequestSink).Publish(s.ctx, requests("a"))
			if err := equal("publish", outcome(out), "delivered [] failed publish"); err != nil {
				return err
			}
			if !errors.As(out.Failure.Err, c.target) {
				return fmt.Errorf("%s: %w", c.host, out.Failure.Err)
			}
		}
		return nil
	}},
}

func runHTTP(t *testing.T, open func(t *testing.T) (stage, httpServer)) {
	for _, step := range httpSteps {
		t.Run(strings.ReplaceAll(step.name, " ", "-"), func(t *testing.T) {
			st, server := open(t)
			err := st.run(func(ctx context.Context, w primitives.World) error {
				return step.run(&httpSession{ctx: ctx, w: w, server: server})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// lateness is how late a late head is: later than any bound of a step.
const lateness = 2 * time.Second

// httpModel is the model seen from outside.
type httpModel struct{ broker *model.Broker }

func (m httpModel) origin() string { return m.broker.Origin() }
func (m httpModel) answer(status, retryAfter int) {
	m.broker.SetAnswer(status, time.Duration(retryAfter)*time.Second)
}
func (m httpModel) next(what misbehaviour) {
	switch what {
	case resetAfterBody:
		m.broker.ResetAfterBody(1)
	case truncateHead:
		m.broker.TruncateHeads(1)
	case oversizeHead:
		m.broker.OversizeHeads(1)
	case interimHead:
		m.broker.SendInterimHeads(1)
	case lateHead:
		m.broker.AnswerLate(lateness, 1)
	}
}
func (m httpModel) seen() []string {
	out := []string{}
	for _, e := range m.broker.Ledger().Events() {
		if e.Kind == brokers.Stored {
			msg := e.Channel.Message(e.Seq)
			out = append(out, msg.Method+" "+msg.Target+" "+string(msg.Payload))
		}
	}
	return out
}
func (m httpModel) header(name string) []string {
	var last brokers.Event
	for _, last = range m.broker.Ledger().Events() {
	}
	out := []string{}
	for _, h := range last.Channel.Message(last.Seq).Headers {
		if strings.EqualFold(h.Name, name) {
			out = append(out, h.Value)
		}
	}
	return out
}

func TestHTTPModel(t *testing.T) {
	runHTTP(t, func(t *testing.T) (stage, httpServer) {
		s := sim.New(sim.Options{Seed: 4, Guard: true})
		t.Cleanup(s.Close)
		broker := model.New(s, s.Host("http"))
		broker.Start()
		return simStage(s), httpModel{broker}
	})
}

// httpReal is a net/http server.
type httpReal struct {
	server *httptest.Server
	done   chan struct{} // closed at the end of the test

	mu       sync.Mutex
	status   int
	retry    int
	what     misbehaviour
	requests []string
	last     http.Header
}

func startHTTP(t *testing.T) *httpReal {
	r := &httpReal{status: 200, done: make(chan struct{})}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	t.Cleanup(func() { close(r.done) })
	return r
}

func (r *httpReal) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)
	r.mu.Lock()
	r.requests = append(r.requests, in.Method+" "+in.RequestURI+" "+string(body))
	r.last = in.Header
	what, status, retry := r.what, r.status, r.retry
	r.what = behave
	r.mu.Unlock()
	switch what {
	case resetAfterBody, truncateHead:
		conn, _, _ := out.(http.Hijacker).Hijack()
		if what == truncateHead {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-")
		} else {
			conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
		return
	case oversizeHead:
		out.Header().Set("X-Padding", strings.Repeat("x", 80<<10))
	case interimHead:
		out.WriteHeader(http.StatusEarlyHints)
	case lateHead:
		select {
		case <-time.After(lateness):
		case <-r.done:
		}
	}
	if retry > 0 {
		out.Header().Set("Retry-After", fmt.Sprint(retry))
	}
	if status == 302 {
		out.Header().Set("Location", "/elsewhere")
	}
	out.WriteHeader(status)
}

func (r *httpReal) origin() string { return r.server.URL }
func (r *httpReal) answer(status, retryAfter int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.retry = status, retryAfter
}
func (r *httpReal) next(what misbehaviour) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.what = what
}
func (r *httpReal) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}
func (r *httpReal) header(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Values(name)
}

func TestHTTPServer(t *testing.T) {
	runHTTP(t, func(t *testing.T) (stage, httpServer) { return realStage(t), startHTTP(t) })
}
