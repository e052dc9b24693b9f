package exchange

import (
	"context"
	"errors"
	"slices"

	"plexus/engine/ack"
	"plexus/engine/interconnect"
	"plexus/primitives"
)

// arrivedRows is one outcome of rows on its way from the graph, newest first.
type arrivedRows struct {
	in   *inbound
	what report
	next *arrivedRows
}

// rowsEnded takes outcomes of rows from whatever task brought them. It neither
// waits nor locks.
func (x *Exchange) rowsEnded(in *inbound, rows []int32, out ack.Outcome) {
	n := &arrivedRows{in: in, what: report{rows: slices.Clone(rows), outcome: out}}
	for {
		before := x.rows.Load()
		n.next = before
		if !x.rows.CompareAndSwap(before, n) {
			continue
		}
		// From here on n is the collector's.
		if before == nil {
			x.arrived.Raise()
		}
		return
	}
}

// collect brings outcomes of rows to their watches.
func (x *Exchange) collect(ctx context.Context) error {
	for {
		if err := x.arrived.Wait(ctx); err != nil {
			return nil
		}
		newest := x.rows.Swap(nil)
		var first *arrivedRows
		for newest != nil {
			next := newest.next
			newest.next, first, newest = first, newest, next
		}
		x.step(func(now primitives.Instant) {
			for n := first; n != nil; n = n.next {
				x.recv.rows(now, n.in, n.what)
			}
		})
	}
}

// reporter starts the tasks that report to a peer, under the lock.
func (x *Exchange) reporter(p *inPeer) {
	if p.started {
		return
	}
	p.started = true
	verdicts, rows := primitives.NewNotice(x.world), primitives.NewNotice(x.world)
	p.wake = func() {
		verdicts.Raise()
		rows.Raise()
	}
	x.tasks.Go("relay verdicts", func(ctx context.Context) error {
		tell(ctx, x, p, verdicts, interconnect.RelayOutcome,
			func() []answer { return p.outcomes.take(eventMax, sizeOfAnswer) },
			func(list []answer) []byte { return encodeOutcomes(p.process.Epoch, list) },
			func(_ primitives.Instant, ok bool) { p.outcomes.sent(ok) })
		return nil
	})
	x.tasks.Go("relay outcomes", func(ctx context.Context) error {
		tell(ctx, x, p, rows, interconnect.RelayAck,
			func() []report { return p.reports.take(eventMax, sizeOfReport) },
			func(list []report) []byte { return encodeReports(p.process.Epoch, list) },
			func(now primitives.Instant, ok bool) { x.recv.confirmed(now, p, ok) })
		return nil
	})
}

// tell sends one kind of event to a peer, one message at a time, until the peer
// is gone.
func tell[T any](ctx context.Context, x *Exchange, p *inPeer, notice *primitives.Notice, op interconnect.Operation,
	take func() []T, encode func([]T) []byte, sent func(now primitives.Instant, ok bool)) {
	for {
		var list []T
		gone := false
		x.step(func(primitives.Instant) {
			if gone = p.gone; !gone {
				list = take()
			}
		})
		switch {
		case gone:
			return
		case len(list) == 0:
			if err := notice.Wait(ctx); err != nil {
				return
			}
			continue
		}
		err := x.event(ctx, p.process, op, encode(list))
		x.step(func(now primitives.Instant) {
			sent(now, err == nil)
			if errors.Is(err, ErrDeparted) && !p.gone {
				x.recv.depart(now, p)
			}
		})
		if err != nil && primitives.Canceled(ctx) != nil {
			return
		}
	}
}

// event sends one event until it is confirmed, for a while.
func (x *Exchange) event(ctx context.Context, to Process, op interconnect.Operation, message []byte) error {
	until := x.world.Clock().Now().Add(x.limits.EventRetry)
	bounded, end := primitives.WithDeadline(ctx, x.world, until)
	defer end()
	for wait := x.limits.RetryMin; ; wait = min(2*wait, x.limits.RetryMax) {
		_, err := x.port.Ask(bounded, to, op, message)
		if err == nil || errors.Is(err, ErrDeparted) {
			return err
		}
		if failed := primitives.Sleep(bounded, x.world, wait); failed != nil {
			eventExhausted.HitIf(primitives.Canceled(ctx) == nil)
			return err
		}
	}
}

// report sends progress while there is anything to say.
func (x *Exchange) report(ctx context.Context) error {
	next := x.world.Clock().Now()
	for {
		var busy bool
		idle := primitives.Never
		x.step(func(primitives.Instant) {
			if busy = x.recv.busy(); !busy {
				idle = x.recv.idleUntil()
			}
			x.ticking = busy
		})
		until := idle
		if busy {
			until = next
		}
		if _, err := primitives.Select(ctx, x.world, x.ticks.OnRaise(), primitives.AtCase(x.world, until)); err != nil {
			return nil
		}
		var messages []progressMessage
		x.step(func(now primitives.Instant) {
			full := !now.Before(next)
			if full {
				x.recv.tick(now)
				next = now.Add(x.limits.Progress)
			}
			x.recv.hinted = false
			messages = x.standings(now, !full)
		})
		for _, m := range messages {
			x.port.Post(m.to, m.text)
		}
	}
}

type progressMessage struct {
	to   Process
	text []byte
}

// standings encodes what there is to say, in messages of bounded size.
func (x *Exchange) standings(now primitives.Instant, hints bool) (out []progressMessage) {
	for _, node := range primitives.SortedKeys(x.recv.peers) {
		p := x.recv.peers[node]
		list := x.recv.progress(now, p, hints)
		for len(list) > 0 {
			n, size := 0, 0
			for n < len(list) && (n == 0 || size+40+len(list[n].held) <= eventMax) {
				size += 40 + len(list[n].held)
				n++
			}
			out = append(out, progressMessage{p.process, encodeProgress(p.process.Epoch, list[:n])})
			list = list[n:]
		}
	}
	return out
}
