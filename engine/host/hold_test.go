package host

import (
	"context"
	"slices"
	"testing"
	"time"

	"plexus/engine/decide"
	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
)

// engage holds a scope of the domain.
func (w *world) engage(s quiesce.Scope) (h quiesce.Held) {
	w.t.Helper()
	s.Domain = "d"
	err := w.sim.Do("engage", func() {
		var err error
		if h, err = w.d.Engage(context.Background(), s); err != nil {
			w.t.Error(err)
		}
	}, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *world) do(what string, f func()) {
	w.t.Helper()
	if err := w.sim.Do(what, f, time.Minute); err != nil {
		w.t.Fatal(err)
	}
}

// Intake that is shut reads nothing and takes no request, whatever ON QUIESCE
// would do, and what a milder hold had buffered stays.
func TestShutIntake(t *testing.T) {
	w := newWorld(t, 30)
	w.start(twoSinks(decide.SourcePlan{Entity: vocab.SourceNATSSubject, Instances: 1,
		Quiesce: vocab.Quiesce{Body: vocab.QuiesceBuffer, MaxSize: vocab.Size{Bytes: 1 << 10}}}))
	w.broker.publish(2)
	w.until("live records arrive", func() bool { return len(w.dest.got["one"]) == 2 })
	declared := w.engage(quiesce.Scope{Whole: true})
	w.broker.queue = append(w.broker.queue, 10, 11)
	w.until("the buffer takes what comes", func() bool { return len(w.broker.queue) == 0 })
	shut := w.engage(quiesce.Scope{Whole: true, Force: true})
	w.broker.queue = append(w.broker.queue, 12, 13)
	w.pass(time.Second)
	if in, _ := w.d.DescribeIngestor("in"); len(w.broker.queue) != 2 || in.Buffered != 2 || !in.Held {
		t.Errorf("%d records left at the broker, ingestor %+v", len(w.broker.queue), in)
	}
	w.do("release", declared.Release)
	w.pass(time.Second)
	if len(w.broker.queue) != 2 || len(w.dest.got["one"]) != 2 {
		t.Errorf("intake flows under a hold: %v", w.dest.got["one"])
	}
	w.do("release", shut.Release)
	w.until("everything arrives in order", func() bool { return slices.Equal(w.dest.got["one"], []int{0, 1, 10, 11, 12, 13}) })
	w.stop()
}

func TestShutEndpoint(t *testing.T) {
	w := endpointWorld(t, 31, vocab.Quiesce{Body: vocab.QuiesceEndpointBuffer, MaxSize: vocab.Size{Bytes: 1 << 10}})
	h := w.engage(quiesce.Scope{Sources: []quiesce.Entity{{Kind: vocab.EntityIngestor, Name: "in"}}, Force: true})
	if got := w.post("POST", "in.example.org", "/orders", `{"n":1}`); got.Status != 503 {
		t.Errorf("shut: %+v", got)
	}
	w.do("release", h.Release)
	w.until("it takes requests again", func() bool { return w.post("POST", "in.example.org", "/orders", `{"n":2}`).Status == 202 })
	w.until("the body arrives", func() bool { return slices.Equal(w.dest.got["one"], []int{2}) })
	w.stop()
}

// A flush generation makes an emitter publish before its interval; it has
// completed it when the sink has answered, and until then the look says what it
// publishes.
func TestFlushReachesTheSink(t *testing.T) {
	w := newWorld(t, 32)
	down := true
	w.dest.chance = func(kind string) bool { return kind == "fail" && down }
	rev := twoSinks(decide.SourcePlan{Entity: vocab.SourceNATSSubject, Instances: 1})
	rev.Emitters = []decide.EmitterPlan{emitterPlan("one", nil)}
	rev.Emitters[0].Flush = vocab.Flush{Each: time.Hour}
	w.start(rev)
	w.broker.publish(3)
	w.pass(10 * time.Millisecond) // it has started
	one := quiesce.Entity{Kind: vocab.EntityEmitter, Name: "one"}
	h := w.engage(quiesce.Scope{Sources: []quiesce.Entity{{Kind: vocab.EntityIngestor, Name: "elsewhere"}}, Gates: nil, Drain: nil})
	look := func() (l quiesce.Look) {
		w.do("look", func() { l = h.Look() })
		return l
	}
	w.pass(time.Second)
	w.do("flush", func() { h.Flush(1) })
	w.pass(time.Second)
	if l := look(); l.Obligations != 1 {
		t.Errorf("look %+v", l)
	}
	whole := w.engage(quiesce.Scope{Drain: []quiesce.Entity{one}})
	var blockers []quiesce.Blocker
	w.do("look", func() { blockers = whole.Look().Blockers })
	if !slices.Contains(blockers, quiesce.Blocker{Entity: one, Work: quiesce.Publishes, Count: 3}) {
		t.Errorf("blockers %+v", blockers)
	}
	down = false
	w.until("the records arrive", func() bool { return len(w.dest.got["one"]) == 3 })
	w.pass(time.Second)
	if l := look(); l.Obligations != 0 || l.Flushed != 1 {
		t.Errorf("look %+v", l)
	}
	w.do("release", func() { h.Release(); whole.Release() })
	w.stop()
}
