package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// fakeCursor counts upwards: its state is the next number.
type fakeCursor struct {
	w         *world
	world     primitives.World
	next      uint64 // committed
	candidate uint64
	staged    bool
	connected bool
	polls     []time.Duration // when NextBatch was called
	limit     uint64
	empty     bool // polls move the watermark and return nothing
	ackErr    error
	results   []string
}

func (c *fakeCursor) NeedsResume() bool             { return !c.connected }
func (c *fakeCursor) Suspend(context.Context) error { c.connected = false; return nil }
func (c *fakeCursor) Close(context.Context) error   { c.results = append(c.results, "close"); return nil }
func (c *fakeCursor) Resume(context.Context) (contract.Resumed, error) {
	c.connected = true
	return contract.Resumed{}, nil
}

func (c *fakeCursor) Restore(_ context.Context, s contract.State, found bool) error {
	c.next = 0
	if found {
		fields, err := s.RestoreFields("RANDOM SEQUENCE", 1, "next")
		if err != nil {
			return &contract.StateUnusableError{Entity: vocab.SourceRandomSequence, Err: err}
		}
		c.next, _ = fields.Uint("next")
	}
	return nil
}

func (c *fakeCursor) NextBatch(_ context.Context, req contract.BatchRequest) (contract.Batch, error) {
	c.polls = append(c.polls, c.w.sim.Elapsed())
	if c.staged {
		c.w.t.Error("NextBatch before the result of the last batch")
	}
	if c.next >= c.limit {
		return contract.Batch{}, nil
	}
	c.candidate, c.staged = min(c.next+uint64(req.Max), c.limit), true
	encoded, err := contract.StateFields{{Key: "next", Uint: c.candidate}}.Encode()
	if err != nil {
		return contract.Batch{}, err
	}
	b := contract.Batch{State: &contract.State{Connector: "RANDOM SEQUENCE", Version: 1, Bytes: encoded}}
	for n := c.next; n < c.candidate && !c.empty; n++ {
		b.Messages = append(b.Messages, contract.Message{Payload: fmt.Appendf(nil, `{"n":%d}`, n), Position: contract.Position{Offset: n},
			Metadata: contract.Metadata{Scope: vocab.ScopeCursor, RecordID: fmt.Sprint(n), OriginTime: int64(n), HasOriginTime: true}})
	}
	return b, nil
}

func (c *fakeCursor) Acknowledge(context.Context, []contract.Position) error {
	c.results = append(c.results, "ack")
	c.staged = false
	if c.ackErr == nil {
		c.next = c.candidate
	}
	return c.ackErr
}

func (c *fakeCursor) Reject(_ context.Context, _ []contract.Position, why contract.Refusal) error {
	c.results = append(c.results, why.Reason.String())
	c.staged = false
	return nil
}

var _ contract.StatefulSource = (*fakeCursor)(nil)

// cursorWorld runs a cursor source of limit numbers into both sinks.
func cursorWorld(t *testing.T, seed, limit uint64) (*world, *fakeCursor, decide.Revision) {
	w := newWorld(t, seed)
	c := &fakeCursor{w: w, limit: limit}
	w.sources = map[vocab.SourceEntity]contract.SourceOpener{vocab.SourceRandomSequence: func(_ context.Context, _ contract.SourcePlan, _ int, env contract.Env) (contract.Source, error) {
		c.world, c.connected, c.staged = env.World, false, false
		return c, nil
	}}
	plan := stream(1)
	plan.Entity, plan.Cursor = vocab.SourceRandomSequence, vocab.Cursor{MaxRows: 10, Every: 20 * time.Millisecond}
	plan.Mode.Retry = vocab.Retry{Backoff: time.Millisecond, Max: time.Millisecond}
	return w, c, twoSinks(plan)
}

var cursorKey = state.Key{Domain: "d", Ingestor: "in"}

func (w *world) saved() uint64 {
	s, ok := w.cursors[cursorKey]
	if !ok {
		return 0
	}
	fields, _ := contract.DecodeState(s.Bytes)
	n, _ := fields.Uint("next")
	return n
}

// Kills at random points: what was saved never runs ahead of what was
// delivered, and every number arrives.
func TestCursorStateNeverRunsAhead(t *testing.T) {
	for seed := range uint64(30) {
		w, _, rev := cursorWorld(t, seed, 60)
		faulty := true
		w.dest.chance = func(kind string) bool { return faulty && kind != "refuse" && w.below(40) == 0 }
		check := func() {
			for n := range int(w.saved()) {
				if !slices.Contains(w.dest.got["one"], n) || !slices.Contains(w.dest.got["packed"], n) {
					t.Fatalf("seed %d: state says %d, and %d was not delivered", seed, w.saved(), n)
				}
			}
		}
		w.start(rev)
		for range 4 {
			bound := w.sim.Elapsed() + time.Duration(w.below(150))*time.Millisecond
			w.until("a while", func() bool { check(); return w.sim.Elapsed() >= bound })
			w.node.Kill()
			w.node.Restart()
		}
		faulty = false
		w.until("everything is saved", func() bool { check(); return w.saved() == 60 })
		w.stop()
	}
}

func TestCursorWaitsBeforeEveryPoll(t *testing.T) {
	w, c, rev := cursorWorld(t, 1, 30)
	w.start(rev)
	w.until("some polls found nothing", func() bool { return len(c.polls) == 10 })
	last := time.Duration(0)
	for i, at := range c.polls {
		if at-last < 20*time.Millisecond {
			t.Errorf("poll %d came %s after the one before", i, at-last)
		}
		last = at
	}
	if len(c.results) != 3 {
		t.Errorf("empty polls without state had a result: %v", c.results)
	}
	w.stop()
	if c.results[len(c.results)-1] != "close" {
		t.Error("not closed")
	}
}

func TestCursorSavesEmptyBatches(t *testing.T) {
	w, c, rev := cursorWorld(t, 2, 30)
	c.empty = true
	w.start(rev)
	w.until("the watermark is saved", func() bool { return w.saved() == 30 })
	w.stop()
}

func TestCursorStopsAfterFiveRejections(t *testing.T) {
	w, c, rev := cursorWorld(t, 3, 30)
	w.saveErr = func() error { return errors.New("disk") }
	w.start(rev)
	w.pass(time.Minute)
	if want := slices.Repeat([]string{"state_store"}, 5); !slices.Equal(c.results, want) {
		t.Errorf("results %v", c.results)
	}
	for i, want := range []time.Duration{100, 200, 400, 800} {
		if d := c.polls[i+1] - c.polls[i]; d < want*time.Millisecond || d > (want+200)*time.Millisecond {
			t.Errorf("wait %d was %s", i, d)
		}
	}
	in, _ := w.d.DescribeIngestor("in")
	if in.Status != "stopped" || in.Instances[0].Stopped != "stopped after 5 consecutive rejected batches" || in.Ready {
		t.Errorf("ingestor %+v", in)
	}
	w.saveErr = nil
	w.stop()
	if c.results[len(c.results)-1] != "close" {
		t.Error("not closed by the operator's stop")
	}
}

func TestCursorAcknowledgeFailureIsFinal(t *testing.T) {
	w, c, rev := cursorWorld(t, 4, 30)
	c.ackErr = errBroken
	w.start(rev)
	w.pass(time.Minute)
	if !slices.Equal(c.results, []string{"ack"}) {
		t.Errorf("results %v", c.results)
	}
	w.stop()
}

// A sink that never answers keeps the roots alive; the result window does not
// wait for it.
func TestCursorResultWindow(t *testing.T) {
	w, c, rev := cursorWorld(t, 5, 10)
	rev.Ingestors[0].Source.Mode.AckTimeout = 30 * time.Second
	w.dest.chance = func(kind string) bool { return kind == "fail" }
	w.start(rev)
	w.until("the first result", func() bool { return len(c.results) == 1 })
	if c.results[0] != "result_window" {
		t.Errorf("results %v", c.results)
	}
	if waited := w.sim.Elapsed() - c.polls[0]; waited < resultWindow || waited > resultWindow+time.Second {
		t.Errorf("waited %s", waited)
	}
	w.node.Kill()
	w.sim.Close()
}

func TestCursorUnusableStateIsShown(t *testing.T) {
	w, _, rev := cursorWorld(t, 6, 10)
	w.cursors[cursorKey] = contract.State{Connector: "SOMETHING ELSE", Version: 1}
	w.start(rev)
	w.pass(time.Second)
	in, _ := w.d.DescribeIngestor("in")
	if unusable := (*contract.StateUnusableError)(nil); !errors.As(in.Instances[0].Transient.Err, &unusable) {
		t.Errorf("ingestor %+v", in)
	}
	if len(w.dest.got["one"]) != 0 {
		t.Error("started from the beginning")
	}
	w.stop()
}
