package contracttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
	realhttp "plexus/real/http"
	"plexus/sim"
	simhttp "plexus/sim/http"
)

// endpointStage is a build of the listener with a caller to match.
type endpointStage struct {
	stage
	server func(w primitives.World, addr netip.AddrPort) contract.EndpointServer
	call   func(ctx context.Context, w primitives.World, addr netip.AddrPort, req simhttp.Request) (simhttp.Response, error)
}

type endpointStep struct {
	name string
	run  func(e endpointStage, ctx context.Context, w primitives.World) error
}

// echo answers with what it saw.
func echo(_ context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
	body, err := r.ReadBody()
	return contract.EndpointAnswer{Status: 202, Body: fmt.Sprintf("%s %s %s %q %v", r.Method, r.Host, r.Path, body, err)}
}

func serving(e endpointStage, w primitives.World, handler contract.EndpointHandler) (contract.EndpointServer, error) {
	server := e.server(w, netip.MustParseAddrPort("127.0.0.1:0"))
	return server, server.Start(handler)
}

var endpointSteps = []endpointStep{
	{"a request is seen as it was sent", func(e endpointStage, ctx context.Context, w primitives.World) error {
		server, err := serving(e, w, echo)
		if err != nil {
			return err
		}
		defer server.Close(ctx)
		got, err := e.call(ctx, w, server.Addr(), simhttp.Request{Host: "In.Example.org:81", Path: "/a b", Body: []byte("hello")})
		return errors.Join(err, equal("status", got.Status, 202),
			equal("echo", got.Body, `POST in.example.org /a b "hello" <nil>`))
	}},
	{"headers come in name order with Host first", func(e endpointStage, ctx context.Context, w primitives.World) error {
		server, err := serving(e, w, func(_ context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
			kept := []string{}
			for _, h := range r.Headers {
				if h.Name == "Host" || strings.HasPrefix(h.Name, "X-") {
					kept = append(kept, h.Name+"="+h.Value)
				}
			}
			return contract.EndpointAnswer{Status: 202, Body: strings.Join(kept, " ")}
		})
		if err != nil {
			return err
		}
		defer server.Close(ctx)
		got, err := e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Headers: []contract.Header{
			{Name: "x-b", Value: "1"}, {Name: "X-A", Value: "2"}, {Name: "X-B", Value: "3"}, {Name: "X-C", Value: "\xff"},
		}})
		return errors.Join(err, equal("headers", got.Body, "Host=h X-A=2 X-B=1 X-B=3"))
	}},
	{"answers carry what their status asks for", func(e endpointStage, ctx context.Context, w primitives.World) error {
		server, err := serving(e, w, func(_ context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
			if r.Method == "GET" {
				return contract.EndpointAnswer{Status: 405}
			}
			return contract.EndpointAnswer{Status: 503, RetryAfter: 1500 * time.Millisecond}
		})
		if err != nil {
			return err
		}
		defer server.Close(ctx)
		get, err1 := e.call(ctx, w, server.Addr(), simhttp.Request{Method: "GET", Host: "h", Path: "/"})
		post, err2 := e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Body: []byte("unread")})
		return errors.Join(err1, err2, equal("get", get.Status, 405), equal("allow", get.Headers.Get("Allow"), "POST"),
			equal("post", post.Status, 503), equal("retry after", post.RetryAfter, 2*time.Second))
	}},
	{"a body above the limit is refused, one at it is not", func(e endpointStage, ctx context.Context, w primitives.World) error {
		server, err := serving(e, w, func(_ context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
			body, err := r.ReadBody()
			if errors.Is(err, contract.ErrBodyTooLarge) {
				return contract.EndpointAnswer{Status: 413}
			}
			return contract.EndpointAnswer{Status: 202, Body: fmt.Sprint(len(body), err)}
		})
		if err != nil {
			return err
		}
		defer server.Close(ctx)
		fits := bytes.Repeat([]byte("x"), contract.EndpointBodyBytesMax)
		got, err := e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Body: fits})
		if err := errors.Join(err, equal("at the limit", fmt.Sprint(got.Status, " ", got.Body), "202 16777216 <nil>")); err != nil {
			return err
		}
		// The server answers before the body is through, so the caller may meet a
		// closed connection instead of the answer; what counts is that it is no 202.
		got, err = e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Body: append(fits, 'x')})
		if err == nil && got.Status != 413 {
			return fmt.Errorf("above the limit: status %d", got.Status)
		}
		return nil
	}},
	{"a port in use refuses to start", func(e endpointStage, ctx context.Context, w primitives.World) error {
		first, err := serving(e, w, echo)
		if err != nil {
			return err
		}
		defer first.Close(ctx)
		if err := e.server(w, first.Addr()).Start(echo); !errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("second start: %w", err)
		}
		return nil
	}},
	{"closing lets a running request end", func(e endpointStage, ctx context.Context, w primitives.World) error {
		entered, release := primitives.NewEvent(w), primitives.NewEvent(w)
		server, err := serving(e, w, func(ctx context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
			entered.Set()
			if err := release.Wait(ctx); err != nil {
				return contract.EndpointAnswer{Status: 500}
			}
			return contract.EndpointAnswer{Status: 202}
		})
		if err != nil {
			return err
		}
		group := primitives.NewGroup(ctx, w)
		group.Go("caller", func(ctx context.Context) error {
			got, err := e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Body: []byte("x")})
			return errors.Join(err, equal("status", got.Status, 202))
		})
		if err := entered.Wait(ctx); err != nil {
			return err
		}
		group.Go("closer", func(ctx context.Context) error { return server.Close(ctx) })
		if err := primitives.Sleep(ctx, w, 50*time.Millisecond); err != nil {
			return err
		}
		release.Set()
		return group.Wait(ctx)
	}},
	{"closing for good ends a request that does not", func(e endpointStage, ctx context.Context, w primitives.World) error {
		entered := primitives.NewEvent(w)
		server, err := serving(e, w, func(ctx context.Context, r *contract.EndpointRequest) contract.EndpointAnswer {
			entered.Set()
			_ = primitives.NewEvent(w).Wait(ctx)
			return contract.EndpointAnswer{Status: 503}
		})
		if err != nil {
			return err
		}
		group := primitives.NewGroup(ctx, w)
		group.Go("caller", func(ctx context.Context) error {
			_, _ = e.call(ctx, w, server.Addr(), simhttp.Request{Host: "h", Path: "/", Body: []byte("x")})
			return nil
		})
		if err := entered.Wait(ctx); err != nil {
			return err
		}
		short, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(50*time.Millisecond))
		defer cancel()
		if err := server.Close(short); err == nil {
			return errors.New("close waited for a request that never ends")
		}
		return group.Wait(ctx)
	}},
}

func runEndpoints(t *testing.T, open func(t *testing.T) endpointStage) {
	for _, step := range endpointSteps {
		t.Run(strings.ReplaceAll(step.name, " ", "-"), func(t *testing.T) {
			e := open(t)
			if err := e.run(func(ctx context.Context, w primitives.World) error { return step.run(e, ctx, w) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEndpointSimulated(t *testing.T) {
	runEndpoints(t, func(t *testing.T) endpointStage {
		s := sim.New(sim.Options{Seed: 2, Guard: true})
		t.Cleanup(s.Close)
		return endpointStage{
			stage: simStage(s),
			server: func(w primitives.World, addr netip.AddrPort) contract.EndpointServer {
				return simhttp.NewEndpointServer(w, addr)
			},
			call: func(ctx context.Context, w primitives.World, addr netip.AddrPort, req simhttp.Request) (simhttp.Response, error) {
				return simhttp.Call(ctx, w, addr, req, w.Clock().Now().Add(30*time.Second))
			},
		}
	})
}

func TestEndpointReal(t *testing.T) {
	runEndpoints(t, func(t *testing.T) endpointStage {
		return endpointStage{
			stage: realStage(t),
			server: func(w primitives.World, addr netip.AddrPort) contract.EndpointServer {
				return realhttp.NewEndpointServer(w, addr)
			},
			call: func(ctx context.Context, _ primitives.World, addr netip.AddrPort, req simhttp.Request) (simhttp.Response, error) {
				if req.Method == "" {
					req.Method = "POST"
				}
				target := "http://" + addr.String() + strings.ReplaceAll(req.Path, " ", "%20")
				out, err := http.NewRequestWithContext(ctx, req.Method, target, bytes.NewReader(req.Body))
				if err != nil {
					return simhttp.Response{}, err
				}
				out.Host, out.Close = req.Host, true
				for _, h := range req.Headers {
					out.Header.Add(h.Name, h.Value)
				}
				in, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
				if err != nil {
					return simhttp.Response{}, err
				}
				defer in.Body.Close()
				body, err := io.ReadAll(in.Body)
				response := simhttp.Response{Status: in.StatusCode, Headers: in.Header, Body: string(body)}
				if in.Header.Get("Retry-After") != "" {
					seconds, _ := time.ParseDuration(in.Header.Get("Retry-After") + "s")
					response.RetryAfter = seconds
				}
				return response, err
			},
		}
	})
}
