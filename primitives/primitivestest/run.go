package primitivestest

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"plexus/primitives"
)

// Place is where one test runs.
type Place struct {
	World primitives.World
	// Addr is an address of this node that it can listen on and dial.
	Addr netip.Addr
	// Dir is an empty directory.
	Dir string
}

// Runner runs a body as a task of a fresh world, and returns when the body has.
// It then fails t when a task or a socket of the world is left. The body may end
// itself with t.FailNow.
type Runner func(t *testing.T, body func(Place))

// Run checks one build.
func Run(t *testing.T, run Runner) {
	for _, s := range []struct {
		name  string
		cases []testCase
	}{
		{"tasks", taskCases},
		{"queue", queueCases},
		{"select", selectCases},
		{"cancel", cancelCases},
		{"sync", syncCases},
		{"time", timeCases},
		{"executor", executorCases},
		{"entropy", entropyCases},
		{"stream", streamCases},
		{"datagram", datagramCases},
		{"files", fileCases},
	} {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range s.cases {
				t.Run(c.name, func(t *testing.T) {
					run(t, func(p Place) { c.body(&test{T: t, Place: p, w: p.World}) })
				})
			}
		})
	}
}

type testCase struct {
	name string
	body func(*test)
}

// test is one running case.
type test struct {
	*testing.T
	Place
	w primitives.World
}

// bg is the context of waits that end by what the test does.
var bg = context.Background()

// moment is a time that passes quickly on every machine.
const moment = 5 * time.Millisecond

// soon is an instant shortly ahead; far one that no test reaches.
func (t *test) soon() primitives.Instant { return t.in(moment) }
func (t *test) far() primitives.Instant  { return t.in(time.Minute) }

func (t *test) in(d time.Duration) primitives.Instant { return t.w.Clock().Now().Add(d) }

// ok ends the test on an error.
func (t *test) ok(err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// that ends the test when the condition does not hold.
func (t *test) that(cond bool, format string, args ...any) {
	t.Helper()
	if !cond {
		t.Fatalf(format, args...)
	}
}

// spawn starts a task whose end join waits for.
func (t *test) spawn(f func(ctx context.Context) error) *primitives.Group {
	g := primitives.NewGroup(bg, t.w)
	g.Go("test task", f)
	return g
}

// join waits for tasks and ends the test when one failed.
func (t *test) join(groups ...*primitives.Group) {
	t.Helper()
	for _, g := range groups {
		t.ok(g.Wait(bg))
	}
}

// let gives other tasks the time to get into their waits. Nothing depends on it
// but the chance to meet the situation a case is about.
func (t *test) let() {
	t.Helper()
	t.ok(primitives.Sleep(bg, t.w, moment))
}
