package host

import (
	"context"
	"slices"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
)

func endpointWorld(t *testing.T, seed uint64, q vocab.Quiesce) *world {
	w := newWorld(t, seed)
	w.start(twoSinks(decide.SourcePlan{Entity: vocab.SourceHTTPEndpoint, Instances: 1, Quiesce: q,
		Endpoint: &decide.EndpointPlan{Name: "hook", Hostnames: []string{"in.example.org"}, Path: "/orders"}}))
	w.until("the domain runs", func() bool { return w.d != nil })
	return w
}

// post makes a request in a task of the node.
func (w *world) post(method, host, path, body string) contract.EndpointAnswer {
	w.t.Helper()
	var got contract.EndpointAnswer
	err := w.sim.Do("request", func() {
		got = w.endpoints.Handle(context.Background(), &contract.EndpointRequest{Method: method, Host: host, Path: path,
			ReadBody: func() ([]byte, error) {
				if body == "large" {
					return nil, contract.ErrBodyTooLarge
				}
				return []byte(body), nil
			}})
	}, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func TestEndpointAnswers(t *testing.T) {
	w := endpointWorld(t, 1, vocab.Quiesce{Body: vocab.QuiesceReject, RetryAfter: 7 * time.Second})
	_ = w.sim.Do("configure", func() {
		if got := w.endpoints.Handle(context.Background(), &contract.EndpointRequest{Method: "POST", Host: "elsewhere", Path: "/"}); got.Status != 503 {
			t.Errorf("an unknown endpoint of a node that starts: %+v", got)
		}
		w.endpoints.Complete()
		w.endpoints.Configure("other", []decide.EndpointPlan{{Name: "idle", Hostnames: []string{"in.example.org"}, Path: "/idle"}})
	}, time.Minute)
	for _, c := range []struct {
		method, host, path, body string
		status                   int
	}{
		{"POST", "in.example.org", "/orders", `{"n":1}`, 202},
		{"POST", "in.example.org", "/orders", `{"n":"x"}`, 400},
		{"POST", "in.example.org", "/orders", `large`, 413},
		{"GET", "in.example.org", "/orders", ``, 405},
		{"POST", "in.example.org", "/none", `{}`, 404},
		{"POST", "elsewhere", "/orders", `{}`, 404},
		{"POST", "in.example.org", "/idle", `{}`, 503},
	} {
		if got := w.post(c.method, c.host, c.path, c.body); got.Status != c.status {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	release := w.quiesce()
	if got := w.post("POST", "in.example.org", "/orders", `{"n":2}`); got.Status != 503 || got.RetryAfter != 7*time.Second {
		t.Errorf("held: %+v", got)
	}
	_ = w.sim.Do("release", release, time.Minute)
	w.until("the hold ends", func() bool { return w.post("POST", "in.example.org", "/orders", `{"n":3}`).Status == 202 })
	w.until("accepted bodies arrive", func() bool { return slices.Equal(w.dest.got["one"], []int{1, 3}) })
	w.stop()
	if n := len(w.endpoints.table.Load().bound); n != 0 {
		t.Errorf("%d intakes still bound", n)
	}
}

func (w *world) quiesce() (release func()) {
	w.t.Helper()
	err := w.sim.Do("hold", func() {
		var err error
		if release, err = w.d.Quiesce(context.Background(), w.node.World().Clock().Now().Add(time.Second)); err != nil {
			w.t.Error(err)
		}
	}, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	return release
}

func TestEndpointBuffer(t *testing.T) {
	w := endpointWorld(t, 2, vocab.Quiesce{Body: vocab.QuiesceEndpointBuffer, MaxSize: vocab.Size{Bytes: 15}})
	release := w.quiesce()
	for n, want := range []int{202, 202, 503} {
		if got := w.post("POST", "in.example.org", "/orders", `{"n":`+string(rune('1'+n))+`}`); got.Status != want {
			t.Errorf("request %d: %+v", n, got)
		}
	}
	if len(w.dest.got["one"]) != 0 {
		t.Error("a held body was delivered")
	}
	_ = w.sim.Do("release", release, time.Minute)
	w.until("buffered bodies arrive first", func() bool { return slices.Equal(w.dest.got["one"], []int{1, 2}) })
	if in, _ := w.d.DescribeIngestor("in"); in.Rejected != 1 || in.Dropped != 0 || in.Buffered != 0 || in.BufferedBytes != 0 {
		t.Errorf("ingestor %+v", in)
	}
	w.quiesce()
	if got := w.post("POST", "in.example.org", "/orders", `{"n":4}`); got.Status != 202 {
		t.Errorf("a held request: %+v", got)
	}
	w.stop()
	w.heldIsCounted(1)
}

// heldIsCounted checks that a stop counted what a hold had kept, and that nothing
// is shown as kept any more.
func (w *world) heldIsCounted(n uint64) {
	w.t.Helper()
	dropped := w.metrics.Counter(observe.QuiesceDropped, "d", "in").Value()
	records, bytes := w.metrics.Gauge(observe.QuiesceRecords, "d", "in").Value(), w.metrics.Gauge(observe.QuiesceBytes, "d", "in").Value()
	if dropped != n || records != 0 || bytes != 0 {
		w.t.Errorf("after the stop: %d dropped, %d records of %d bytes held", dropped, records, bytes)
	}
}
