package exchange

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"

	"plexus/engine/ack"
	"plexus/engine/interconnect"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Encode encodes a batch of a relay once for every destination. It waits for
// memory first. A batch that is too large is ErrTooLarge: the caller halves it.
func (x *Exchange) Encode(ctx context.Context, domain, relay string, l *Layout, rec arrow.RecordBatch, low, high []int64) (*Body, error) {
	e, err := measure(l, rec, low, high)
	if err != nil {
		return nil, err
	}
	if e.size > x.limits.Body {
		return nil, ErrTooLarge
	}
	release, err := x.reserve(ctx, relayKey{domain, relay}, int64(e.size))
	if err != nil {
		return nil, err
	}
	var b *Body
	if err := x.run(ctx, e.size, func() { b = e.write() }); err != nil {
		release()
		return nil, err
	}
	b.free = release
	return b, nil
}

// run does the work on the bytes of a body where such work belongs.
func (x *Exchange) run(ctx context.Context, size int, f func()) error {
	if x.executor == nil {
		f()
		return nil
	}
	// About a nanosecond for two bytes, and what every batch costs.
	cost := 5*time.Microsecond + time.Duration(size/2)
	return x.executor.RunWaiting(ctx, primitives.Data, cost, f)
}

// Deliver brings a batch to another node and blocks until its verdict. nil says
// that the batch was admitted there: the exchange then holds the shares and
// resolves them row by row. Every error is a *NotAdmitted. note travels beside
// the batch.
func (x *Exchange) Deliver(ctx context.Context, ch Channel, b *Body, note []byte, acks *ack.Set) error {
	invariant.That(acks == nil || acks.Rows() == b.rows, "E9: shares have the batch's rows")
	invariant.That(len(note) <= noteMax, "E9: a note fits beside the batch")
	wake := primitives.NewNotice(x.world)
	d := &dispatch{ch: ch, acks: acks, wake: wake.Raise, grant: grant{
		role: ch.Role, domain: ch.Domain, relay: ch.Relay, branch: ch.Branch,
		length: b.Size(), digest: b.digest, schema: b.layout.Fingerprint, rows: b.rows, note: note,
	}}
	known := true
	x.step(func(primitives.Instant) { known = x.send.peer(ch.Node).member })
	if !known {
		x.look() // it may have joined just now
	}
	x.step(func(now primitives.Instant) { x.send.offer(now, d) })
	for {
		var do action
		var until primitives.Instant
		x.step(func(now primitives.Instant) { do, until = x.send.next(now, d) })
		switch do {
		case actEnd:
			if d.result != nil {
				return d.result
			}
			return nil
		case actSend:
			x.transfer(ctx, d, b)
		default:
			if _, err := primitives.Select(ctx, x.world, wake.OnRaise(), primitives.AtCase(x.world, until)); err != nil {
				x.step(func(now primitives.Instant) { x.send.abandon(now, d) })
				ctx = context.Background() // the cancellation has bounds of its own
			}
		}
	}
}

// transfer carries the body under its grant.
func (x *Exchange) transfer(ctx context.Context, d *dispatch, b *Body) {
	id := d.grant.id
	ctx, end := primitives.WithDeadline(ctx, x.world, d.deadline)
	defer end()
	reply, err := x.port.Transfer(ctx, d.to, channelHash(d.ch), encodeHead(id, b.Size()), b.bytes)
	var a answer
	if err == nil {
		a, err = parseAnswer(reply)
	}
	x.step(func(now primitives.Instant) { x.send.transferred(now, d, id, a, err) })
}

func channelHash(ch Channel) uint64 {
	h := fnv.New64a()
	for _, text := range []string{ch.Domain, ch.Relay, ch.Branch} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(text)))) // a hash takes everything
		_, _ = h.Write([]byte(text))
	}
	return h.Sum64()
}

func encodeHead(id Identity, length int) []byte {
	var m builder
	m.uint(1, id.Incarnation)
	m.uint(2, id.Sequence)
	m.uint(3, uint64(length))
	return m.b
}

func decodeHead(b []byte) (id Identity, length int, err error) {
	err = parse(b, 0, func(field protowire.Number, n uint64, v []byte) error {
		switch {
		case field == 1 && v == nil:
			id.Incarnation = n
		case field == 2 && v == nil:
			id.Sequence = n
		case field == 3 && v == nil && n <= BodyMax:
			length = int(n)
		default:
			return unknownField(field)
		}
		return nil
	})
	if err == nil && (id.Incarnation == 0 || id.Sequence == 0 || length == 0) {
		err = errFormat
	}
	return id, length, err
}

// asker are the tasks that ask one node: one for each kind of question, so that a
// slow answer of one holds up no other.
type asker struct {
	notices [questions]*primitives.Notice
}

var askOperations = [questions]interconnect.Operation{interconnect.RelayGrant, interconnect.RelayStatus, interconnect.RelayCancel}

func (a *asker) raise() {
	for _, n := range a.notices {
		n.Raise()
	}
}

// asker returns who asks a node, under the lock; its tasks start with the first
// question.
func (x *Exchange) asker(p *outPeer) *asker {
	a := x.askers[p.node]
	if a == nil {
		a = &asker{}
		x.askers[p.node] = a
		for q := range questions {
			notice := primitives.NewNotice(x.world)
			a.notices[q] = notice
			x.tasks.Go("relay questions", func(ctx context.Context) error { return x.questions(ctx, p, q, notice) })
		}
	}
	return a
}

// questions asks what is due, one message at a time.
func (x *Exchange) questions(ctx context.Context, p *outPeer, q question, notice *primitives.Notice) error {
	for {
		var to Process
		var due []asked
		var at, began primitives.Instant
		var text []byte
		x.step(func(now primitives.Instant) {
			if to, due, at = x.send.batch(now, p, q); due != nil {
				text, began = message(q, due), now
			}
		})
		if due == nil {
			if _, err := primitives.Select(ctx, x.world, notice.OnRaise(), primitives.AtCase(x.world, at)); err != nil {
				return nil
			}
			continue
		}
		answers, err := x.put(ctx, to, q, text)
		x.step(func(now primitives.Instant) { x.send.answered(now, began, p, to, q, due, answers, err) })
	}
}

// put asks one message of questions.
func (x *Exchange) put(ctx context.Context, to Process, q question, text []byte) ([]answer, error) {
	ctx, end := primitives.WithDeadline(ctx, x.world, x.world.Clock().Now().Add(x.limits.Request))
	defer end()
	reply, err := x.port.Ask(ctx, to, askOperations[q], text)
	if err != nil {
		return nil, err
	}
	return decodeAnswers(reply)
}
