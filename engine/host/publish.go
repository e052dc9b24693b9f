package host

import (
	"context"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	payloadRetried  = invariant.Sometimes("an emitter offered a payload again")
	recordRejected  = invariant.Sometimes("a sink rejected a record")
	partlyAnswered  = invariant.Sometimes("a failed publish had answered some records")
	receiverDelayed = invariant.Sometimes("a destination asked for a longer wait")
	attemptTerminal = invariant.Sometimes("an attempt failed for good")
)

// attempt offers every retained payload, in order, and applies the answers.
func (e *emitter) attempt(ctx context.Context) {
	if e.sink == nil {
		if !e.openSink(ctx) {
			e.attempts[attemptRetry].Add(1)
			e.retryAt = e.openAt
			return
		}
	}
	payloadRetried.HitIf(e.offered)
	e.offered = true
	e.observeOffer()
	if planted.Active(planted.AckBeforeSink) {
		now := e.world.Clock().Now()
		for _, k := range e.flying {
			k.acks.OK(now)
			k.acks = nil
		}
		e.publishHeld()
	}
	out := e.publish(ctx)
	verdicts, err := checkOutcome(len(e.flight), &out)
	if err != nil {
		out.Failure = &contract.AttemptFailure{Err: err, Class: contract.FailureMisconfigured}
		e.abort("internal", out.Failure)
		return
	}
	e.apply(verdicts, &out)
	switch {
	case len(e.flight) == 0:
		e.attempts[attemptSuccess].Add(1)
		e.land()
		e.answered()
	case out.Failure != nil && out.Failure.Class.Terminal():
		e.abort("external", out.Failure)
	default:
		failure := out.Failure
		if failure == nil {
			failure = &contract.AttemptFailure{Err: &UnansweredError{len(e.flight)}}
		}
		partlyAnswered.HitIf(len(out.Delivered) > 0)
		e.postpone(failure)
	}
}

// publish calls the sink once for the whole write. A record's id is its place.
func (e *emitter) publish(ctx context.Context) contract.Outcome {
	switch sink := e.sink.(type) {
	case contract.HTTPRequestSink:
		requests := make([]contract.HTTPRequest, len(e.flight))
		for i := range e.flight {
			p := &e.flight[i]
			line := p.request()
			requests[i] = contract.HTTPRequest{ID: contract.RecordID(i), Method: line.method, Target: line.target,
				Headers: p.headers(), Body: p.body, HasBody: e.packing.page != nil}
		}
		return sink.Publish(ctx, requests)
	case contract.RecordSink:
		e.records = e.records[:0]
		for i := range e.flight {
			e.records = append(e.records, contract.Record{ID: contract.RecordID(i), Payload: e.flight[i].body, Headers: e.flight[i].headers()})
		}
		return sink.Publish(ctx, e.records)
	}
	return contract.Failed(contract.FailureMisconfigured, errNoConnector)
}

// apply resolves the members of answered payloads and keeps the others, in
// order (H4).
func (e *emitter) apply(verdicts []verdict, out *contract.Outcome) {
	for i := range out.Rejected {
		r := &out.Rejected[i]
		recordRejected.Hit()
		reference := e.d.Reference()
		members := e.flight[r.ID].members
		e.rejected.Add(len(members))
		for _, m := range members {
			m.chunk.faults = append(m.chunk.faults, flow.RowFault{Row: m.row, Code: string(r.Code), Operation: string(r.Operation),
				Index: expr.NoIndex, Message: r.Message, Reference: reference})
		}
		e.observe(observe.SinkRejected, &e.flight[r.ID])
	}
	rows, bytes := 0, int64(0)
	kept := e.flight[:0]
	for i := range e.flight {
		p := &e.flight[i]
		switch verdicts[i] {
		case unanswered:
			kept = append(kept, *p)
		case delivered:
			rows += len(p.members)
			for _, m := range p.members {
				m.chunk.delivered = append(m.chunk.delivered, m.row)
				bytes += m.chunk.bytes / int64(m.chunk.rows)
			}
			e.observe(observe.SinkDelivered, p)
		}
	}
	if rows > 0 {
		e.sent.Batch(e.world.Clock().Now(), rows, bytes)
	}
	e.flight = kept
	e.retained.Store(int64(len(kept)))
	e.settle()
}

// postpone schedules the next attempt after a failure that is not final.
func (e *emitter) postpone(failure *contract.AttemptFailure) {
	e.attempts[attemptRetry].Add(1)
	now := e.world.Clock().Now()
	wait := e.retry.take()
	if failure.ReceiverDelay > wait && now.Add(failure.ReceiverDelay) != primitives.Never {
		receiverDelayed.Hit()
		wait = failure.ReceiverDelay
	}
	e.retryAt = now.Add(wait)
	e.show(failure.Err, wait)
	if !e.sink.KeepsClient() {
		e.closeSink()
		e.openAt = e.retryAt
	}
}

// abort ends the attempt for good: every owned row follows ON MESSAGE ERROR.
func (e *emitter) abort(code string, failure *contract.AttemptFailure) {
	attemptTerminal.Hit()
	e.attempts[attemptFinal].Add(1)
	reference := e.d.Reference()
	e.flying, e.buffer, e.bytes = append(e.flying, e.buffer...), nil, 0
	for i := range e.flight {
		e.observe(observe.SinkRejected, &e.flight[i])
	}
	for _, k := range e.flying {
		k.delivered, k.faults = nil, nil
		for _, row := range k.open {
			k.faults = append(k.faults, flow.RowFault{Row: row, Code: code, Operation: "publish", Index: expr.NoIndex,
				Message: "the attempt failed for good: " + failure.Class.String(), Reference: reference})
		}
	}
	e.flight = nil
	e.retained.Store(0)
	e.settle()
	e.land()
	e.answered()
	e.show(failure.Err, 0)
}

// show publishes a failure as status; ON GENERAL ERROR LOG reports the first of
// a streak.
func (e *emitter) show(err error, wait time.Duration) {
	streak := e.status.transient.Load() != nil
	e.status.transient.Store(&flow.Transient{Err: err, Backoff: wait, Until: e.world.Clock().Now().Add(wait)})
	if !streak && e.plan.GeneralError == decide.GeneralLog {
		e.d.Report(e.self, err)
	}
}

func (e *emitter) observe(kind observe.EventKind, p *prepared) {
	if tap := e.d.Deps().Tap; tap != nil {
		event := observe.Event{Kind: kind, Domain: e.d.Name(), Name: e.self.Name, ID: p.number, Count: len(p.members)}
		if kind == observe.SinkOffered {
			event.Hash = p.hash()
		}
		tap.Observe(event)
	}
}

func (e *emitter) observeOffer() {
	for i := range e.flight {
		e.observe(observe.SinkOffered, &e.flight[i])
	}
}
