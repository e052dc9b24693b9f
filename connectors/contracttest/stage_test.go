package contracttest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/primitives/dns"
	"plexus/real"
	"plexus/sim"
)

// stage is one build a suite runs in: a node's world, and a way to run a step as
// a task of it.
type stage struct {
	name string
	// run runs the body and returns its error, or that of the build: a leak, a
	// deadlock, a bound.
	run func(body func(ctx context.Context, w primitives.World) error) error
}

// stepBound is the longest a step may take, in the time of its build.
const stepBound = time.Minute

func realStage(t *testing.T) stage {
	w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
	if err := w.LoadResolver(t.Context(), loopbackResolver(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(5 * time.Second); err != nil {
			t.Error(err)
		}
	})
	return stage{"real", func(body func(context.Context, primitives.World) error) error {
		ctx, cancel := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(stepBound))
		defer cancel()
		if err := body(ctx, w); err != nil {
			return err
		}
		if n := w.OpenSockets(); n > 0 {
			return fmt.Errorf("%d sockets left open", n)
		}
		return nil
	}}
}

// loopbackResolver knows localhost and asks nobody.
func loopbackResolver(t *testing.T) dns.Options {
	dir := t.TempDir()
	options := dns.Options{ConfigFile: filepath.Join(dir, "resolv.conf"), HostsFile: filepath.Join(dir, "hosts")}
	err := errors.Join(os.WriteFile(options.ConfigFile, []byte("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"), 0o600),
		os.WriteFile(options.HostsFile, []byte("127.0.0.1 localhost\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// simStage runs steps on a node of the simulation.
func simStage(s *sim.Simulation) stage { return simStageWithin(s, stepBound) }

// simStageWithin bounds the virtual time of a body.
func simStageWithin(s *sim.Simulation, bound time.Duration) stage {
	node := s.Host("node")
	return stage{"sim", func(body func(context.Context, primitives.World) error) error {
		done, failure := false, error(nil)
		node.Start("step", func(ctx context.Context, w primitives.World) {
			failure = body(ctx, w)
			done = true
		})
		err := s.RunUntil(func() bool { return done }, bound)
		return errors.Join(failure, err)
	}}
}

// unreachable opens something on hosts that nobody answers for, and checks that
// the cause is still there beneath whatever a driver made of it.
func unreachable(open func(host string) error) error {
	var lookup *dns.LookupError
	if err := open("no.such.host.invalid."); !errors.As(err, &lookup) || lookup.Host != "no.such.host.invalid." {
		return fmt.Errorf("unknown host: %w", err)
	}
	var refused *dial.Error
	if err := open("127.0.0.1:1"); !errors.As(err, &refused) || len(refused.Attempts) != 1 {
		return fmt.Errorf("refused connection: %w", err)
	}
	return nil
}

// events collects what a connector reports.
type events struct {
	reports   []error
	last      int
	waits     int
	waitEnded int
}

func (e *events) Report(err error)   { e.reports = append(e.reports, err) }
func (e *events) LastDelivery(n int) { e.last += n }
func (e *events) Waiting(string) (end func()) {
	e.waits++
	return func() { e.waitEnded++ }
}

func env(w primitives.World, e *events) contract.Env {
	return contract.Env{World: w, Events: e, Identity: contract.Identity{Node: "node-1", Domain: "d", Name: "step"}}
}

// records builds records with consecutive identities from 1.
func records(payloads ...string) []contract.Record {
	out := make([]contract.Record, len(payloads))
	for i, p := range payloads {
		out[i] = contract.Record{ID: contract.RecordID(i + 1), Payload: []byte(p)}
	}
	return out
}

// collect reads batches until it has n messages, and returns their payloads.
func collect(ctx context.Context, src contract.BatchSource, n int, each func(contract.Batch) error) ([]string, error) {
	var payloads []string
	for len(payloads) < n {
		batch, err := src.NextBatch(ctx, contract.BatchRequest{Max: n - len(payloads), Timeout: 20 * time.Millisecond})
		if err != nil {
			return payloads, err
		}
		if batch.Kind != contract.Messages {
			return payloads, fmt.Errorf("batch of kind %d: %w", batch.Kind, batch.Err)
		}
		for _, m := range batch.Messages {
			payloads = append(payloads, string(m.Payload))
		}
		if each != nil {
			if err := each(batch); err != nil {
				return payloads, err
			}
		}
	}
	return payloads, nil
}

func positions(b contract.Batch) []contract.Position {
	out := make([]contract.Position, len(b.Messages))
	for i := range b.Messages {
		out[i] = b.Messages[i].Position
	}
	return out
}

func equal(what string, got, want any) error {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("%s: got %s, want %s", what, g, w)
	}
	return nil
}

// outcome renders an outcome for comparison: identities, rejections, failure.
func outcome(o contract.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "delivered %v", o.Delivered)
	for _, r := range o.Rejected {
		fmt.Fprintf(&b, " rejected %d %s/%s: %s", r.ID, r.Code, r.Operation, r.Message)
	}
	if o.Failure != nil {
		fmt.Fprintf(&b, " failed %s", o.Failure.Class)
	}
	return b.String()
}

// within runs f and checks that it took no longer than the bound on the clock of
// the world.
func within(w primitives.World, bound time.Duration, f func() error) error {
	start := w.Clock().Now()
	if err := f(); err != nil {
		return err
	}
	if took := w.Clock().Now().Sub(start); took > bound {
		return fmt.Errorf("took %v, longer than %v", took, bound)
	}
	return nil
}
