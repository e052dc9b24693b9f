package exchange

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/ack"
	"plexus/primitives"
)

// bench is the two cores with nothing between them.
type bench struct {
	t      *testing.T
	now    primitives.Instant
	limits Limits
	here   Process
	there  Process
	send   *sender
	recv   *receiver
	layout *Layout
	ledger *ack.Ledger
}

func newBench(t *testing.T, l Limits) *bench {
	layout, err := NewLayout(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		t: t, now: 1, limits: l.withDefaults(), layout: layout, ledger: ack.NewLedger("d", nil, nil),
		here: Process{Node: "a", RaftID: 1, Counter: 1, Epoch: Epoch{1}}, there: Process{Node: "b", RaftID: 2, Counter: 1, Epoch: Epoch{2}},
	}
	b.send = newSender(b.limits, nil, newSeries(nil))
	b.recv = newReceiver(b.limits, "b", nil, newSeries(nil))
	b.send.follow(b.now, "b", b.there, true, false)
	b.recv.follow(b.now, "a", b.here, true)
	return b
}

// batch is a dispatch of some rows with shares, and what its source saw of them.
func (b *bench) batch(relay string, rows int, from int64, acks bool, branch ...string) (*dispatch, *Body, *[]ack.Outcome) {
	rec := numbers(b.layout.Schema, rows, from)
	marks := make([]int64, rows)
	body, err := Encode(b.layout, rec, marks, marks)
	if err != nil {
		b.t.Fatal(err)
	}
	saw := make([]ack.Outcome, 0, rows)
	d := &dispatch{ch: Channel{Node: "b", Role: ToOwner, Domain: "d", Relay: relay, Branch: strings.Join(branch, "")}, wake: func() {}, grant: grant{
		role: ToOwner, domain: "d", relay: relay, length: body.Size(), digest: body.digest, schema: b.layout.Fingerprint, rows: rows,
		branch: strings.Join(branch, ""),
	}}
	if acks {
		_, d.acks = b.ledger.Watch(rows, b.now, func(list []int32, o ack.Outcome) {
			for range max(len(list), (1-min(len(list), 1))*rows) {
				saw = append(saw, o)
			}
		})
	}
	b.send.offer(b.now, d)
	return d, body, &saw
}

// ask brings what is due to the receiver, and its answers back.
func (b *bench) ask() {
	for _, q := range []question{askGrant, askStatus, askCancel} {
		p := b.send.peer("b")
		to, due, _ := b.send.batch(b.now, p, q)
		var out []answer
		for _, a := range due {
			switch q {
			case askGrant:
				g := a.d.grant
				out = append(out, b.recv.ask(b.now, b.here, &g, b.layout, nil))
			case askStatus:
				out = append(out, b.recv.status(b.now, b.here, a.id))
			case askCancel:
				a, _ := b.recv.cancel(b.now, b.here, a.id)
				out = append(out, a)
			}
		}
		if due != nil {
			b.send.answered(b.now, b.now, p, to, q, due, out, nil)
		}
	}
}

// transfer brings the body over and lets the graph take it.
func (b *bench) transfer(d *dispatch, body *Body) *inbound {
	b.t.Helper()
	if do, _ := b.send.next(b.now, d); do != actSend {
		b.t.Fatalf("phase %d does not send", d.phase)
	}
	in, a := b.recv.open(b.now, b.here, d.grant.id, body.Size())
	if in == nil {
		b.t.Fatalf("no transfer: %v", a)
	}
	a = b.recv.read(b.now, in, body.bytes, true)
	b.send.transferred(b.now, d, d.grant.id, a, nil)
	if !b.recv.accepting(in, func() {}) {
		b.t.Fatal("not received")
	}
	if d.grant.registration.Generation != 0 {
		in.open, in.told = in.grant.rows, b.now
		in.tree, _ = b.recv.ledger("d").Watch(in.grant.rows, b.now, func(rows []int32, out ack.Outcome) {
			b.recv.rows(b.now, in, report{rows: slices.Clone(rows), outcome: out})
		})
	}
	return in
}

// admit lets a batch through to its admission.
func (b *bench) admit(d *dispatch, body *Body) *inbound {
	b.t.Helper()
	b.ask()
	in := b.transfer(d, body)
	b.recv.decide(b.now, in, answer{id: in.grant.id, state: stateAdmitted})
	p := b.recv.peers["a"]
	b.send.outcomes(b.now, b.there, p.outcomes.take(eventMax, sizeOfAnswer))
	p.outcomes.sent(true)
	if do, _ := b.send.next(b.now, d); do != actEnd || d.result != nil {
		b.t.Fatalf("not admitted: %v", d.result)
	}
	return in
}

func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

func TestSilenceIsCountedInSweeps(t *testing.T) {
	b := newBench(t, Limits{})
	d, body, saw := b.batch("r", 3, 0, true)
	b.admit(d, body)
	b.pass(time.Hour) // this process stood still: nobody may fail for that
	b.send.sweep(b.now)
	for range 14 {
		b.pass(time.Second)
		b.send.sweep(b.now)
	}
	if len(*saw) != 0 {
		t.Fatalf("failed before the fifteenth silent sweep: %v", *saw)
	}
	b.send.progress(b.now, b.there, []standing{{id: d.grant.id, number: 1, state: stateAdmitted}})
	for range 15 {
		b.send.sweep(b.now)
	}
	if len(*saw) != 0 {
		t.Fatalf("failed in the fourteenth sweep after a report: %v", *saw)
	}
	b.send.sweep(b.now)
	if len(*saw) != 3 || !(*saw)[0].Failed || (*saw)[0].Reason != (ack.Reason{Class: ack.ClassSilence, Text: "acknowledgement lost: b reported nothing for 15s"}) {
		t.Fatalf("after fifteen silent sweeps: %v", *saw)
	}
	b.send.reports(b.now, b.there, []report{{registration: Registration{0, 1}}})
	if len(*saw) != 3 || b.send.live != 0 {
		t.Fatalf("a late report changed something: %v", *saw)
	}
}

func TestFiveMinutes(t *testing.T) {
	b := newBench(t, Limits{ReceiveMemory: 5 << 10, WatchMemory: 1 << 10})
	first, body, _ := b.batch("r", 1, 0, false)
	b.ask()
	b.transfer(first, body) // and the graph never decides
	d, _, saw := b.batch("other", 1, 1, true)
	began := b.now
	for b.now.Sub(began) < 5*time.Minute {
		b.ask()
		if d.phase != phaseGranting || d.done {
			t.Fatalf("after %v: phase %d, %v", b.now.Sub(began), d.phase, d.result)
		}
		b.pass(time.Second)
		b.send.next(b.now, d)
	}
	do, _ := b.send.next(b.now, d)
	if do != actEnd || d.result == nil || d.result.Cause != GaveUp || !d.result.Again || len(*saw) != 1 || !(*saw)[0].Failed {
		t.Fatalf("after five minutes: %v, %v", d.result, *saw)
	}
}

// A cancellation that a node may have admitted waits for its word only while the
// cluster does: behind that nobody else does either.
func TestCancellationOfALostNodeEnds(t *testing.T) {
	for _, lostFirst := range []bool{false, true} {
		b := newBench(t, Limits{})
		d, body, saw := b.batch("r", 2, 0, true)
		b.ask()
		b.transfer(d, body) // its outcome never comes back
		if lostFirst {
			b.send.unreachable(b.now, "b", true)
		}
		b.send.abandon(b.now, d)
		if do, _ := b.send.next(b.now, d); !lostFirst && do != actWait {
			t.Fatalf("a cancellation of what may be admitted ended at once: %v", d.result)
		}
		b.send.unreachable(b.now, "b", true)
		if do, _ := b.send.next(b.now, d); do != actEnd || d.result == nil || d.result.Cause != Unknown || d.result.Again || len(*saw) != 2 {
			t.Fatalf("with the node out of reach: %v, %v", d.result, *saw)
		}
		next, _, _ := b.batch("r", 1, 2, true)
		if next.phase != phaseGranting || next.grant.id.Incarnation == d.grant.id.Incarnation {
			t.Fatalf("the next delivery is in phase %d of incarnation %d", next.phase, next.grant.id.Incarnation)
		}
	}
}

// A relay whose bodies wait finds no room any more while others still do.
func TestCongestedRelayLeavesRoom(t *testing.T) {
	b := newBench(t, Limits{ReceiveMemory: 64 << 10, WatchMemory: 1 << 10})
	granted := 0
	for i := range 20 {
		d, _, _ := b.batch("full", 1, int64(i), false, fmt.Sprint(i))
		b.ask()
		if d.phase == phaseSending {
			granted++
		}
	}
	other, _, _ := b.batch("other", 1, 100, false)
	b.ask()
	if granted == 0 || granted > 8 || other.phase != phaseSending {
		t.Fatalf("%d bodies of a full relay have room, phase of another's: %d", granted, other.phase)
	}
}

func TestOlderProgressParksNothing(t *testing.T) {
	b := newBench(t, Limits{})
	d, body, _ := b.batch("r", 2, 0, true)
	b.admit(d, body)
	b.send.progress(b.now, b.there, []standing{{id: d.grant.id, number: 7, state: stateAdmitted, parked: true}})
	b.send.progress(b.now, b.there, []standing{{id: d.grant.id, number: 6, state: stateAdmitted}})
	if d.number != 7 {
		t.Fatalf("number %d", d.number)
	}
	other := b.there
	other.Epoch[0]++
	b.send.progress(b.now, other, []standing{{id: d.grant.id, number: 8, state: stateAdmitted}})
	if d.number != 7 {
		t.Fatal("another process reported")
	}
	b.send.progress(b.now, b.there, []standing{{id: d.grant.id, number: 8, state: stateAdmitted}})
	if d.number != 8 {
		t.Fatalf("number %d", d.number)
	}
}

func TestIdentityHasOneContent(t *testing.T) {
	b := newBench(t, Limits{})
	d, body, _ := b.batch("r", 1, 0, false)
	b.ask()
	forged := d.grant
	forged.digest[0]++
	if a := b.recv.ask(b.now, b.here, &forged, b.layout, nil); a.state != stateRefused || a.refusal.Class != Failed || a.refusal.Subject != "content" {
		t.Fatalf("other content while it is undecided: %+v", a)
	}
	in := b.transfer(d, body)
	b.recv.decide(b.now, in, answer{id: in.grant.id, state: stateAdmitted})
	if a := b.recv.ask(b.now, b.here, &forged, b.layout, nil); a.state != stateRefused || a.refusal.Subject != "content" {
		t.Fatalf("other content after the verdict: %+v", a)
	}
	again := d.grant
	if a := b.recv.ask(b.now, b.here, &again, b.layout, nil); a.state != stateAdmitted {
		t.Fatalf("an identical repeat: %+v", a)
	}
	if a := b.recv.status(b.now, b.here, d.grant.id); a.state != stateAdmitted {
		t.Fatalf("status: %+v", a)
	}
}

func TestBodyIsWhatWasGranted(t *testing.T) {
	b := newBench(t, Limits{})
	d, body, _ := b.batch("r", 1, 0, false)
	b.ask()
	if _, a := b.recv.open(b.now, b.here, d.grant.id, body.Size()+1); a.state != stateRefused {
		t.Fatalf("another length: %+v", a)
	}
	in, _ := b.recv.open(b.now, b.here, d.grant.id, body.Size())
	if _, a := b.recv.open(b.now, b.here, d.grant.id, body.Size()); a.state != stateRefused || a.refusal.Class != NotReady {
		t.Fatalf("a second transfer beside the first: %+v", a)
	}
	other := slices.Clone(body.bytes)
	other[len(other)-1]++
	if a := b.recv.read(b.now, in, other, true); a.state != stateRejected || a.refusal.Subject != "content" {
		t.Fatalf("other bytes: %+v", a)
	}
	if b.recv.budget.used != 0 {
		t.Fatalf("%d bytes are reserved", b.recv.budget.used)
	}
}

func TestWatermarksOutliveRotation(t *testing.T) {
	b := newBench(t, Limits{})
	d, body, _ := b.batch("r", 1, 0, false)
	b.admit(d, body)
	first := d.grant.id
	b.pass(5 * time.Minute)
	again, body2, _ := b.batch("r", 1, 1, false)
	b.admit(again, body2)
	if again.grant.id.Incarnation == first.Incarnation || again.grant.id.Sequence != 1 {
		t.Fatalf("after five idle minutes: %v follows %v", again.grant.id, first)
	}
	stray := d.grant
	if a := b.recv.ask(b.now, b.here, &stray, b.layout, nil); a.state != stateRefused {
		t.Fatalf("a repeat of the older incarnation: %+v", a)
	}
	b.pass(10*time.Minute - time.Second)
	b.recv.tick(b.now)
	if a := b.recv.status(b.now, b.here, again.grant.id); a.state != stateAdmitted {
		t.Fatalf("shortly before ten minutes: %+v", a)
	}
	b.pass(2 * time.Second)
	b.recv.tick(b.now)
	if b.recv.channels != 0 {
		t.Fatalf("%d channels are remembered", b.recv.channels)
	}
}

func TestPositionsRetire(t *testing.T) {
	p := positions{most: 2, generations: 2}
	seen := map[Registration]bool{}
	for range 4 {
		r, ok := p.take(&dispatch{})
		if !ok || seen[r] {
			t.Fatalf("%v %v", r, ok)
		}
		seen[r] = true
		if p.find(r) == nil || p.find(Registration{r.Position, r.Generation + 1}) != nil {
			t.Fatal("a registration finds another")
		}
		p.give(r)
		if p.find(r) != nil {
			t.Fatal("an ended registration finds something")
		}
	}
	if _, ok := p.take(&dispatch{}); ok {
		t.Fatal("a position without generations was used again")
	}
}

func TestNumbers(t *testing.T) {
	for _, r := range []Registration{{0, 1}, {1<<positionBits - 1, 1<<generationBits - 1}, {77, 12345}} {
		for _, row := range []int32{0, 1, RowsMax - 1} {
			if got, at := RegistrationOf(r.Number(row)); got != r || at != row {
				t.Fatalf("%v row %d became %v row %d", r, row, got, at)
			}
		}
	}
}
