package exchange

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"plexus/engine/ack"
	"plexus/primitives"
)

// The law relay-exchange: whatever a network does to the messages of two
// processes, and whenever either ends or stands still, the two cores agree with a
// reference that only counts what callers were told, what the graph took, and how
// rows ended.

var errLost = errors.New("lost")

// parcel is one message or answer on its way.
type parcel struct {
	kind  string
	at    primitives.Instant // of the first look at it
	epoch int                // of the receiving process when it was sent
	from  Process            // who sent it
	due   []asked
	q     question
	began primitives.Instant
	text  []byte
	d     *dispatch
	id    Identity
	body  []byte
	head  []byte
	reply []byte
	err   error
	sent  bool // the transmission counts as lost if it is dropped
	then  func(ok bool)
}

// told is what became of one offered batch.
type told struct {
	d         *dispatch
	name      int // order of offering
	born      int
	channel   int
	acks      bool
	rows      int
	result    *NotAdmitted
	ended     bool
	abandoned bool
	taken     int // by the graph
	process   int // that took it
	// outcomes by row: what the graph said, and what the source saw.
	far      []int // 0 open, 1 ok, 2 failed
	near     []int
	nearDone bool
	body     *Body
}

type law struct {
	t        *rapid.T
	now      primitives.Instant
	limits   Limits
	self     Process
	there    Process
	epoch    int // of the receiver
	born     int // of the sender
	send     *sender
	recv     *receiver
	net      []*parcel
	offered  []*told
	byBody   map[Digest]*told
	active   []*told
	deciding []*inbound
	stopped  map[*inbound]bool
	graph    []graphHeld
	order    map[int][]int // by channel and process: names in the order the graph took them
	ledger   *ack.Ledger
	layout   *Layout
	silent   map[*told]int // sweeps in a row
	heard    map[*told]bool
	rowsLate []struct {
		in   *inbound
		what report
	}
	lost int
}

// graphHeld is a batch that the graph works on.
type graphHeld struct {
	in   *inbound
	told *told
	set  *ack.Set
	rows []int32
}

func lawLimits(t *rapid.T) Limits {
	l := Limits{
		Admissions: rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "admissions"), Deliveries: rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "deliveries"),
		Channels:      rapid.SampledFrom([]int{2, 100}).Draw(t, "channels"),
		ReceiveMemory: int64(rapid.SampledFrom([]int{9 << 10, 14 << 10, 1 << 20}).Draw(t, "memory")), WatchMemory: 4 << 10,
	}
	if l.Deliveries == 1000 && rapid.Bool().Draw(t, "retire") {
		l.Generations = 1 // every position is used once
	}
	return l.withDefaults()
}

func newLaw(t *rapid.T) *law {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	layout, err := NewLayout(schema)
	if err != nil {
		t.Fatal(err)
	}
	l := &law{
		t: t, limits: lawLimits(t), layout: layout, byBody: map[Digest]*told{}, stopped: map[*inbound]bool{},
		order: map[int][]int{}, now: 1, silent: map[*told]int{}, heard: map[*told]bool{},
	}
	l.ledger = ack.NewLedger("d", nil, nil)
	l.startSender()
	l.startReceiver()
	return l
}

func (l *law) startSender() {
	l.born++
	l.self = Process{Node: "a", RaftID: 1, Counter: uint64(l.born), Epoch: Epoch{1, byte(l.born)}}
	l.send = newSender(l.limits, nil, newSeries(nil))
	if l.recv != nil {
		l.recv.follow(l.now, "a", l.self, true)
		l.send.follow(l.now, "b", l.there, true, false)
	}
}

func (l *law) startReceiver() {
	l.epoch++
	l.there = Process{Node: "b", RaftID: 2, Counter: uint64(l.epoch), Epoch: Epoch{2, byte(l.epoch)}}
	l.recv = newReceiver(l.limits, "b", nil, newSeries(nil))
	l.recv.follow(l.now, "a", l.self, true)
	l.deciding, l.graph, l.rowsLate = nil, nil, nil
}

// settleSteps does what the tasks of both processes do by themselves.
func (l *law) settleSteps() {
	for again := true; again; {
		again = false
		l.send.woken = nil
		for _, x := range slices.Clone(l.active) {
			again = l.stepDispatch(x) || again
		}
		asking := l.send.asking
		l.send.asking = nil
		for _, p := range asking {
			p.noticed = false
			for q := range questions {
				to, due, _ := l.send.batch(l.now, p, q)
				if due == nil {
					continue
				}
				again = true
				l.net = append(l.net, &parcel{kind: "ask", epoch: l.epochOf(to), from: l.self, due: due, q: q, began: l.now, text: message(q, due)})
			}
		}
		reporting := l.recv.reporting
		l.recv.reporting = nil
		for _, p := range reporting {
			p.noticed = false
			again = l.stepReports(p) || again
		}
		again = l.stepAccept() || again
		for _, late := range l.rowsLate {
			l.recv.rows(l.now, late.in, late.what)
			again = true
		}
		l.rowsLate = nil
	}
	l.send.check()
}

// String keeps drawn values readable.
func (x *told) String() string   { return fmt.Sprint("batch ", x.name) }
func (p *parcel) String() string { return p.kind }

func (l *law) epochOf(p Process) int { return int(p.Counter) }

func (l *law) stepDispatch(x *told) bool {
	do, _ := l.send.next(l.now, x.d)
	switch do {
	case actEnd:
		x.ended, x.result = true, x.d.result
		l.active = slices.DeleteFunc(l.active, func(o *told) bool { return o == x })
		l.checkVerdict(x)
		return true
	case actSend:
		for _, p := range l.net {
			if p.kind == "body" && p.d == x.d && p.id == x.d.grant.id && !p.sent {
				return false
			}
		}
		if x.d.grantUntil < 0 {
			return false
		}
		x.d.grantUntil = -x.d.grantUntil // one transfer at a time: the task is busy
		l.net = append(l.net, &parcel{kind: "body", epoch: l.epochOf(x.d.to), from: l.self, d: x.d, id: x.d.grant.id, head: encodeHead(x.d.grant.id, len(x.body.bytes)), body: x.body.bytes})
		return true
	}
	return false
}

func (l *law) stepReports(p *inPeer) bool {
	did := false
	if list := p.outcomes.take(eventMax, sizeOfAnswer); len(list) > 0 {
		did = true
		l.net = append(l.net, &parcel{kind: "outcome", epoch: int(p.process.Counter), from: l.there, text: encodeOutcomes(p.process.Epoch, list), then: func(ok bool) {
			p.outcomes.sent(ok)
			l.recv.report(p)
		}})
	}
	if list := p.reports.take(eventMax, sizeOfReport); len(list) > 0 {
		did = true
		recv := l.recv
		l.net = append(l.net, &parcel{kind: "ack", epoch: int(p.process.Counter), from: l.there, text: encodeReports(p.process.Epoch, list), then: func(ok bool) {
			if recv == l.recv {
				recv.confirmed(l.now, p, ok)
				recv.report(p)
			}
		}})
	}
	return did
}

// stepAccept starts the decision of received bodies.
func (l *law) stepAccept() bool {
	did := false
	for _, node := range primitives.SortedKeys(l.recv.peers) {
		for in := l.recv.peers[node].first; in != nil; in = in.after {
			if in.stage != stageReceived {
				continue
			}
			did = true
			b, err := Decode(in.layout, in.received)
			if err != nil {
				l.t.Fatalf("a sent body does not decode: %v", err)
			}
			b.Record.Release()
			if !l.recv.accepting(in, func() { l.stopped[in] = true }) {
				l.t.Fatal("a received delivery cannot be decided")
			}
			g := graphHeld{in: in, told: l.byBody[in.grant.digest]}
			if in.grant.registration.Generation != 0 {
				in.open, in.told = in.grant.rows, l.now
				in.tree, g.set = l.recv.ledger(in.grant.domain).Watch(in.grant.rows, l.now, func(rows []int32, out ack.Outcome) {
					l.rowsLate = append(l.rowsLate, struct {
						in   *inbound
						what report
					}{in, report{rows: slices.Clone(rows), outcome: out}})
				})
			}
			l.deciding = append(l.deciding, in)
			l.graph = append(l.graph, g)
			break
		}
	}
	return did
}

func (l *law) held(in *inbound) *graphHeld {
	for i := range l.graph {
		if l.graph[i].in == in {
			return &l.graph[i]
		}
	}
	l.t.Fatal("the graph does not know the delivery")
	return nil
}

// decide lets the graph take or refuse one batch.
func (l *law) decide(take bool, class Class) {
	l.decideOne(rapid.IntRange(0, len(l.deciding)-1).Draw(l.t, "decision"), take, class)
}

func (l *law) decideOne(i int, take bool, class Class) {
	in := l.deciding[i]
	l.deciding = slices.Delete(l.deciding, i, i+1)
	g := l.held(in)
	if take {
		x := g.told
		x.taken++
		if x.taken > 1 && !x.acks {
			l.t.Fatalf("batch %d without shares was taken %d times", x.name, x.taken)
		}
		if x.ended && x.result == nil && x.taken > 1 || x.ended && x.result != nil && x.result.Again {
			l.t.Fatalf("batch %d was taken after its caller was told %v", x.name, x.result)
		}
		key := x.channel*1000 + x.born*30 + l.epoch
		if list := l.order[key]; len(list) > 0 && list[len(list)-1] >= x.name {
			l.t.Fatalf("channel %d: batch %d was taken after %v", x.channel, x.name, list)
		}
		l.order[key] = append(l.order[key], x.name)
		g.rows = make([]int32, x.rows)
		for r := range g.rows {
			g.rows[r] = int32(r)
		}
		l.recv.decide(l.now, in, answer{id: in.grant.id, state: stateAdmitted})
		if g.set == nil {
			l.graph = slices.DeleteFunc(l.graph, func(o graphHeld) bool { return o.in == in })
		}
		return
	}
	a := answer{id: in.grant.id, state: stateRejected, refusal: &Refusal{Class: class, Subject: "graph"}}
	if l.stopped[in] {
		a = answer{id: in.grant.id, state: stateCancelled}
	}
	set := g.set
	l.recv.decide(l.now, in, a)
	if set != nil {
		set.Fail(l.now, ack.Dropped)
	}
	l.graph = slices.DeleteFunc(l.graph, func(o graphHeld) bool { return o.in == in })
}

// finish ends rows of a batch that the graph took, maybe before the verdict.
func (l *law) finish() {
	var open []int
	for i := range l.graph {
		if l.graph[i].set != nil && len(l.graph[i].rows) > 0 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		l.t.Skip()
	}
	g := &l.graph[rapid.SampledFrom(open).Draw(l.t, "batch")]
	var listed, in, out []int32
	for i, r := range g.rows {
		if rapid.Bool().Draw(l.t, "row") {
			listed, in = append(listed, int32(i)), append(in, r)
		} else {
			out = append(out, r)
		}
	}
	ends, rest := g.set.Partition(listed)
	failed := rapid.IntRange(0, 3).Draw(l.t, "failed") == 0
	for _, r := range in {
		g.told.far[r] = 1 + int(boolByte(failed))
	}
	if failed {
		ends.Fail(l.now, ack.Reason{Class: ack.ClassMessage, Text: "far"})
	} else {
		ends.OK(l.now)
	}
	g.set, g.rows = rest, out
	if len(out) == 0 {
		in := g.in
		l.graph = slices.DeleteFunc(l.graph, func(o graphHeld) bool { return o.in == in })
	}
}

func (l *law) offer() {
	x := &told{name: len(l.offered), born: l.born, channel: rapid.IntRange(0, 2).Draw(l.t, "channel"), acks: rapid.Bool().Draw(l.t, "acks"), rows: rapid.IntRange(1, 3).Draw(l.t, "rows")}
	rec := numbers(l.layout.Schema, x.rows, int64(x.name)*100)
	marks := make([]int64, x.rows)
	body, err := Encode(l.layout, rec, marks, marks)
	if err != nil {
		l.t.Fatal(err)
	}
	x.body = body
	l.byBody[body.digest] = x
	d := &dispatch{ch: Channel{Node: "b", Role: ToOwner, Domain: "d", Relay: fmt.Sprint("r", x.channel)}, wake: func() {}, grant: grant{
		role: ToOwner, domain: "d", relay: fmt.Sprint("r", x.channel), length: body.Size(), digest: body.digest, schema: l.layout.Fingerprint, rows: x.rows,
	}}
	if x.acks {
		x.far, x.near = make([]int, x.rows), make([]int, x.rows)
		_, d.acks = l.ledger.Watch(x.rows, l.now, func(rows []int32, out ack.Outcome) { l.saw(x, rows, out) })
	}
	x.d = d
	l.offered, l.active = append(l.offered, x), append(l.active, x)
	l.send.offer(l.now, d)
}

// saw is the outcome of rows at their source.
func (l *law) saw(x *told, rows []int32, out ack.Outcome) {
	if rows == nil {
		for r := range int32(x.rows) {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		if x.near[r] != 0 {
			l.t.Fatalf("batch %d row %d ended twice at its source", x.name, r)
		}
		x.near[r] = 1 + int(boolByte(out.Failed))
		if out.Failed && out.Reason.Class == ack.ClassSilence && l.silent[x] != 15 {
			l.t.Fatalf("batch %d row %d failed in silence after %d sweeps", x.name, r, l.silent[x])
		}
		if !out.Failed && x.far[r] != 1 {
			l.t.Fatalf("batch %d row %d succeeded at its source, the graph says %d", x.name, r, x.far[r])
		}
		if out.Failed && out.Reason.Text == "far" && x.far[r] != 2 {
			l.t.Fatalf("batch %d row %d failed at its source like one that the graph failed, which says %d", x.name, r, x.far[r])
		}
	}
}

// checkVerdict compares what the caller is told with the graph's account.
func (l *law) checkVerdict(x *told) {
	l.heard[x], l.silent[x] = true, 0
	switch {
	case x.result == nil && x.taken == 0:
		l.t.Fatalf("batch %d is said to be admitted and was not", x.name)
	case x.result == nil && x.taken > 1:
		l.t.Fatalf("batch %d was admitted %d times", x.name, x.taken)
	case x.result != nil && x.result.Cause == Refused && x.result.Refusal.Subject != "graph":
		l.t.Fatalf("batch %d was refused by nobody: %v", x.name, x.result)
	case x.result != nil && x.result.Again && x.taken > 0:
		l.t.Fatalf("batch %d was taken, its caller is told %v", x.name, x.result)
	case x.result != nil && x.result.Cause == Cancelled && x.acks:
		if x.d.acks == nil || slices.Contains(x.near, 1) || slices.Contains(x.near, 2) {
			l.t.Fatalf("batch %d was cancelled and its shares are gone", x.name)
		}
		x.d.acks.Fail(l.now, ack.Dropped) // they are the caller's again
	case x.result != nil && x.acks && slices.Contains(x.near, 0):
		l.t.Fatalf("batch %d was not admitted and its rows stand at %v", x.name, x.near)
	case x.result != nil && x.result.Cause == Cancelled && !x.abandoned:
		l.t.Fatalf("batch %d was cancelled by nobody", x.name)
	}
}

// deliver brings one parcel to its end, in any order, once or again.
func (l *law) deliver(p *parcel, again bool) {
	if !again {
		l.net = slices.DeleteFunc(l.net, func(o *parcel) bool { return o == p })
	}
	switch p.kind {
	case "ask":
		if p.epoch != l.epoch {
			l.answerLater(p, nil, again, fmt.Errorf("%w: restarted", ErrDeparted))
			return
		}
		l.answerLater(p, l.serve(p), again, nil)
	case "answer":
		l.answered(p)
	case "body":
		if p.epoch != l.epoch {
			l.replyLater(p, nil, again, fmt.Errorf("%w: restarted", ErrDeparted))
			return
		}
		id, length, err := decodeHead(p.head)
		if err != nil {
			l.t.Fatal(err)
		}
		in, a := l.recv.open(l.now, p.from, id, length)
		if in != nil {
			a = l.recv.read(l.now, in, p.body, true)
		}
		var m builder
		a.append(&m)
		l.replyLater(p, m.b, again, nil)
	case "reply":
		l.replied(p)
	case "outcome":
		if p.epoch == l.born {
			run, list, err := decodeOutcomes(p.text)
			if err != nil || run != l.self.Epoch {
				l.t.Fatalf("outcomes: %v", err)
			}
			for _, a := range list {
				l.hear(p.from, func(d *dispatch) bool { return d.grant.id == a.id })
			}
			l.send.outcomes(l.now, p.from, list)
		}
		l.confirm(p, again)
	case "ack":
		if p.epoch == l.born {
			run, list, err := decodeReports(p.text)
			if err != nil || run != l.self.Epoch {
				l.t.Fatalf("reports: %v", err)
			}
			for _, r := range list {
				l.hear(p.from, func(d *dispatch) bool { return d.grant.registration == r.registration })
			}
			l.send.reports(l.now, p.from, list)
		}
		l.confirm(p, again)
	case "confirmation":
		p.then(true)
	case "progress":
		if p.epoch == l.born {
			_, list, err := decodeProgress(p.text)
			if err != nil {
				l.t.Fatal(err)
			}
			for _, s := range list {
				l.hear(p.from, func(d *dispatch) bool { return d.grant.id == s.id })
			}
			l.send.progress(l.now, p.from, list)
		}
	}
}

// hear notes a sign of life about every delivery that it may be of.
func (l *law) hear(from Process, about func(*dispatch) bool) {
	for _, x := range l.offered {
		if x.born == l.born && x.d.to == from && about(x.d) {
			l.heard[x] = true
		}
	}
}

// sweep lets the sender count silence, and the reference too.
func (l *law) sweep() {
	for _, x := range l.offered {
		if x.born != l.born || x.d.phase != phaseAdmitted {
			continue
		}
		if l.heard[x] {
			l.heard[x], l.silent[x] = false, 0
			continue
		}
		l.silent[x]++
	}
	l.send.sweep(l.now)
	for _, x := range l.offered {
		if x.born == l.born && x.d.phase == phaseAdmitted && l.silent[x] >= 15 {
			l.t.Fatalf("batch %d has open rows after %d silent sweeps", x.name, l.silent[x])
		}
	}
}

func (l *law) confirm(p *parcel, again bool) {
	if !again {
		l.net = append(l.net, &parcel{kind: "confirmation", then: p.then})
	}
}

func (l *law) serve(p *parcel) []byte {
	var out []answer
	switch p.q {
	case askGrant:
		list, err := decodeGrants(p.text)
		if err != nil {
			l.t.Fatal(err)
		}
		for i := range list {
			out = append(out, l.recv.ask(l.now, p.from, &list[i], l.layout, nil))
		}
	default:
		ids, err := decodeIdentities(p.text)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, id := range ids {
			if p.q == askStatus {
				out = append(out, l.recv.status(l.now, p.from, id))
				continue
			}
			a, in := l.recv.cancel(l.now, p.from, id)
			if in != nil { // its handler waits; here the sender asks again
				a = refuseWith(id, NotReady, "verdict", "undecided")
			}
			out = append(out, a)
		}
	}
	return encodeAnswers(out)
}

func (l *law) answerLater(p *parcel, text []byte, again bool, err error) {
	if !again {
		l.net = append(l.net, &parcel{kind: "answer", epoch: l.born, from: p.from, due: p.due, q: p.q, began: p.began, reply: text, err: err, id: Identity{uint64(p.epoch), 0}})
	}
}

func (l *law) answered(p *parcel) {
	if p.from != l.self {
		return // its process is gone
	}
	var list []answer
	err := p.err
	if err == nil {
		list, err = decodeAnswers(p.reply)
		if err != nil {
			l.t.Fatal(err)
		}
	}
	l.send.answered(l.now, p.began, p.due[0].d.peer, Process{Node: "b", RaftID: 2, Counter: p.id.Incarnation, Epoch: Epoch{2, byte(p.id.Incarnation)}}, p.q, p.due, list, err)
}

func (l *law) replyLater(p *parcel, text []byte, again bool, err error) {
	if !again {
		l.net = append(l.net, &parcel{kind: "reply", from: p.from, d: p.d, id: p.id, reply: text, err: err})
	}
}

func (l *law) replied(p *parcel) {
	if p.from != l.self {
		return
	}
	var a answer
	err := p.err
	if err == nil {
		if a, err = parseAnswer(p.reply); err != nil {
			l.t.Fatal(err)
		}
	}
	if p.d.grantUntil < 0 {
		p.d.grantUntil = -p.d.grantUntil
	}
	l.send.transferred(l.now, p.d, p.id, a, err)
}

// drop loses a parcel: who waits for its end learns that it failed.
func (l *law) drop(p *parcel) {
	l.net = slices.DeleteFunc(l.net, func(o *parcel) bool { return o == p })
	switch p.kind {
	case "ask":
		l.answerLater(p, nil, false, errLost)
	case "answer":
		p.err = errLost
		l.answered(p)
	case "body":
		l.replyLater(p, nil, false, errLost)
	case "reply":
		p.err = errLost
		l.replied(p)
	case "outcome", "ack", "confirmation":
		p.then(false)
	}
}

func (l *law) tick(d time.Duration) {
	l.now = l.now.Add(d)
	// No message outlives its connection for long.
	for _, p := range slices.Clone(l.net) {
		if p.at == 0 {
			p.at = l.now.Add(-d)
		}
		if l.now.Sub(p.at) > time.Minute {
			l.drop(p)
		}
	}
	for _, p := range slices.Clone(l.net) { // failures of what was dropped come at once
		if p.at == 0 && (p.kind == "answer" || p.kind == "reply") && d > time.Minute {
			l.deliver(p, false)
		}
	}
	l.recv.tick(l.now)
	for _, node := range primitives.SortedKeys(l.recv.peers) {
		p := l.recv.peers[node]
		if list := l.recv.progress(l.now, p, false); len(list) > 0 {
			l.net = append(l.net, &parcel{kind: "progress", epoch: int(p.process.Counter), from: l.there, text: encodeProgress(p.process.Epoch, list)})
		}
	}
	for _, node := range primitives.SortedKeys(l.send.peers) {
		l.send.notice(l.send.peers[node])
	}
}

func (l *law) restartReceiver() {
	l.startReceiver()
	l.stopped = map[*inbound]bool{}
	l.send.follow(l.now, "b", l.there, true, true)
}

func (l *law) restartSender() {
	for _, x := range l.active { // their process is gone with them
		x.ended = true
	}
	for _, x := range l.offered {
		x.nearDone = true
	}
	l.active = nil
	l.startSender()
}

func (l *law) open() bool {
	return len(l.active) > 0 || l.send.live > 0 || l.recv.busy()
}

// quiet lets everything arrive and time pass until nothing is open.
func (l *law) quiet() {
	for round := 0; round < 100 || round < 900 && l.open(); round++ {
		for len(l.net) > 0 {
			l.deliver(l.net[0], false)
			l.settleSteps()
		}
		for len(l.deciding) > 0 {
			l.decide(true, 0)
			l.settleSteps()
		}
		for i := range l.graph {
			g := &l.graph[i]
			for _, r := range g.rows {
				g.told.far[r] = 1
			}
			g.set.OK(l.now)
		}
		l.graph = nil
		l.settleSteps()
		step := 100 * time.Millisecond
		if round >= 100 {
			step = time.Second
		}
		if round%10 == 9 || round >= 100 {
			l.sweep()
		}
		l.tick(step)
		l.settleSteps()
	}
	for _, x := range l.active {
		l.t.Errorf("batch %d has no verdict in a quiet run: phase %d, silent %d", x.name, x.d.phase, x.d.silent)
	}
	if n := l.send.positions.used(); n > 0 || l.send.live > 0 || l.send.admitting > 0 {
		l.t.Errorf("%d positions, %d entries and %d admissions are in use in a quiet run", n, l.send.live, l.send.admitting)
	}
	if l.recv.budget.used != 0 || l.recv.budget.watches != 0 || l.recv.inbounds != 0 || len(l.recv.held) != 0 || len(l.recv.budget.relays) != 0 {
		l.t.Errorf("receiver holds %+v, %d inbound, %d held in a quiet run", l.recv.budget, l.recv.inbounds, len(l.recv.held))
	}
	for _, x := range l.offered {
		if x.acks && !x.nearDone && slices.Contains(x.near, 0) {
			l.t.Errorf("batch %d has open rows %v at its source", x.name, x.near)
		}
	}
	l.tick(l.limits.Watermark + time.Minute)
	if l.recv.channels != 0 {
		l.t.Errorf("%d watermarks are kept for ever", l.recv.channels)
	}
}

func TestRelayExchangeLaw(t *testing.T) { rapid.Check(t, exchangeLaw) }

func exchangeLaw(t *rapid.T) {
	l := newLaw(t)
	l.send.follow(l.now, "b", l.there, true, false)
	pick := func(t *rapid.T) *parcel {
		if len(l.net) == 0 {
			t.Skip()
		}
		return l.net[rapid.IntRange(0, len(l.net)-1).Draw(t, "parcel")]
	}
	deliver := func(t *rapid.T) { l.deliver(pick(t), false) }
	t.Repeat(map[string]func(*rapid.T){
		"offer":    func(t *rapid.T) { l.offer() },
		"deliver":  deliver,
		"deliver2": deliver,
		"deliver3": deliver,
		"deliver4": deliver,
		"repeat":   func(t *rapid.T) { l.deliver(pick(t), true) },
		"drop":     func(t *rapid.T) { l.drop(pick(t)) },
		"take": func(t *rapid.T) {
			if len(l.deciding) == 0 {
				t.Skip()
			}
			l.decide(true, 0)
		},
		"refuse": func(t *rapid.T) {
			if len(l.deciding) == 0 {
				t.Skip()
			}
			l.decide(false, rapid.SampledFrom([]Class{Rejected, NotReady, Failed}).Draw(t, "class"))
		},
		"finish": func(t *rapid.T) { l.finish() },
		"finish early": func(t *rapid.T) {
			// A row may end before the verdict is noted; then it is admission.
			if len(l.deciding) == 0 {
				t.Skip()
			}
			in := l.deciding[0]
			g := l.held(in)
			if g.set == nil || l.stopped[in] {
				t.Skip()
			}
			for r := range g.told.far {
				g.told.far[r] = 1
			}
			g.set.OK(l.now)
			g.set = nil
			l.settleSteps()
			l.decideOne(0, true, 0)
		},
		"abandon": func(t *rapid.T) {
			if len(l.active) == 0 {
				t.Skip()
			}
			x := rapid.SampledFrom(l.active).Draw(t, "batch")
			x.abandoned = true
			l.send.abandon(l.now, x.d)
		},
		"time": func(t *rapid.T) {
			l.tick(rapid.SampledFrom([]time.Duration{0, 50 * time.Millisecond, time.Second, 6 * time.Second, 70 * time.Second, 5 * time.Minute, 11 * time.Minute}).Draw(t, "by"))
		},
		"sweep": func(t *rapid.T) {
			l.now = l.now.Add(time.Second)
			l.sweep()
		},
		"restart receiver": func(t *rapid.T) {
			if l.epoch > 4 || rapid.IntRange(0, 4).Draw(t, "really") > 0 {
				t.Skip()
			}
			l.restartReceiver()
		},
		"restart sender": func(t *rapid.T) {
			if l.born > 4 || rapid.IntRange(0, 4).Draw(t, "really") > 0 {
				t.Skip()
			}
			l.restartSender()
		},
		"out of reach": func(t *rapid.T) { l.send.unreachable(l.now, "b", rapid.Bool().Draw(t, "is")) },
		"":             func(t *rapid.T) { l.settleSteps() },
	})
	l.send.unreachable(l.now, "b", false)
	l.quiet()
}
