package host

import (
	"context"
	"errors"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/ack"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/engine/state"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	batchRejected       = invariant.Sometimes("a source batch was rejected")
	confirmationFailed  = invariant.Sometimes("a source did not confirm an acknowledgement")
	positionsAbandoned  = invariant.Sometimes("positions were abandoned at a stop")
	cursorStopped       = invariant.Sometimes("a cursor source stopped after consecutive rejections")
	resultWindowElapsed = invariant.Sometimes("a cursor source's result window passed")
)

// acknowledgeBatch admits one acknowledged batch and sees it to its end. The
// batch counts as outstanding until the source has confirmed it (H2).
func (i *instance) acknowledgeBatch(ctx, turn context.Context, b contract.Batch) {
	load := i.g.intake.Load
	load.Add(1)
	defer load.Add(-1)
	i.batch = i.g.d.Sequence()
	positions := make([]contract.Position, len(b.Messages))
	for n := range b.Messages {
		positions[n] = b.Messages[n].Position
	}
	out, window := i.admitBatch(ctx, b)
	if i.await(ctx, out, positions, window); !out.done.IsSet() {
		i.abandon(positions)
		return
	}
	if why, failed := out.refusal(); failed {
		i.reject(ctx, turn, positions, why)
		return
	}
	if b.State != nil {
		if err := i.save(ctx, *b.State); err != nil {
			i.fail(errors.Join(errStateStore, err))
			i.reject(ctx, turn, positions, contract.RefusedByStateStore)
			return
		}
	}
	if err := i.source.Acknowledge(ctx, positions); err != nil {
		if ctx.Err() != nil {
			i.abandon(positions)
			return
		}
		i.unacknowledged(ctx, turn, positions, err)
		return
	}
	i.g.positions[acknowledged].Add(len(positions))
	i.g.emit(observe.Event{Kind: observe.PositionsAcked, ID: i.batch, Count: len(positions)})
	i.g.emit(observe.Event{Kind: observe.SourceProgress, ID: i.batch})
	i.retry.reset()
	i.rejections, i.unconfirmed = 0, false
	i.status.clear()
}

// result is the outcome of one batch.
type result struct {
	done    *primitives.Event
	tally   *ack.Tally
	outcome ack.Outcome // valid once done
	// refused is set by the loop: why it will reject whatever the roots say.
	refused contract.RefusalReason
	intake  bool
}

func (r *result) refusal() (contract.RefusalReason, bool) {
	switch {
	case r.intake:
		return r.refused, true
	case !r.outcome.Failed:
		return 0, false
	case r.outcome.Reason.Class == ack.ClassTimeout:
		return contract.RefusedByTimeout, true
	}
	return contract.RefusedByOutcome, true
}

// refuse decides the batch because its groups were not taken.
func (r *result) refuse(err error) {
	r.intake, r.refused = true, contract.RefusedByIntake
	if errors.Is(err, primitives.ErrDeadline) {
		r.refused = contract.RefusedByTimeout
	}
}

// admitBatch hands every message to decoding and executes the groups.
func (i *instance) admitBatch(ctx context.Context, b contract.Batch) (*result, primitives.Instant) {
	window := primitives.Never
	if i.hostState() {
		window = i.world.Clock().Now().Add(resultWindow)
	}
	r := &result{done: primitives.NewEvent(i.world)}
	r.tally = ack.NewTally(i.g.intake.Ledger, func(o ack.Outcome) {
		r.outcome = o
		r.done.Set()
	})
	for n := range b.Messages {
		if err := i.group.add(ctx, fromMessage(&b.Messages[n]), r.tally); err != nil {
			i.notAdded(r, err)
		}
	}
	if _, err := i.group.close(ctx, closedRequest, r.tally, nil); err != nil {
		r.refuse(err)
	}
	r.tally.Seal()
	return r, window
}

// notAdded handles a message that became no row of the group.
func (i *instance) notAdded(r *result, err error) {
	decode := (*DecodeError)(nil)
	switch {
	case !errors.As(err, &decode):
		r.refuse(err)
	case !i.g.undecodable(decode):
		r.refuse(err)
		r.tally.Fail(reasonIntake)
	}
}

// await waits until every root has its outcome: by its shares, by ACK TIMEOUT,
// or by the result window of a cursor source. It refreshes what the transport
// would otherwise present again. Only cancellation leaves the outcome open.
func (i *instance) await(ctx context.Context, r *result, positions []contract.Position, window primitives.Instant) {
	timeout := i.g.plan.Source.Mode.AckTimeout
	keeper, _ := i.source.(contract.KeepAliveSource)
	refreshAt, every := primitives.Never, time.Duration(0)
	if keeper != nil {
		every = keeper.KeepAliveEvery()
		refreshAt = i.world.Clock().Now().Add(every)
	}
	for !r.done.IsSet() {
		now := i.world.Clock().Now()
		if now >= window {
			resultWindowElapsed.Hit()
			r.intake, r.refused = true, contract.RefusedByResultWindow
			r.tally.FailOpen(reasonWindow) // the rows may still finish; the source must have its answer
			return
		}
		expiry := r.tally.Expire(now, timeout)
		if now >= refreshAt {
			if err := keeper.KeepAlive(ctx, positions); err != nil && ctx.Err() == nil {
				i.g.d.Report(i.g.self, err)
			}
			refreshAt = i.world.Clock().Now().Add(every)
			continue
		}
		if _, err := primitives.Select(ctx, i.world, r.done.OnSet(),
			primitives.AtCase(i.world, min(expiry, refreshAt, window))); err != nil {
			return
		}
	}
}

// abandon leaves the positions to the transport: the task was cancelled.
func (i *instance) abandon(positions []contract.Position) {
	positionsAbandoned.Hit()
	i.g.positions[abandoned].Add(len(positions))
	i.g.emit(observe.Event{Kind: observe.PositionsLeft, ID: i.batch, Count: len(positions)})
	i.g.d.Report(i.g.self, &AbandonedError{len(positions)})
}

// reject gives the positions back and waits out the declared backoff.
func (i *instance) reject(ctx, turn context.Context, positions []contract.Position, why contract.RefusalReason) {
	batchRejected.Hit()
	delay := i.retry.take()
	if i.hostState() {
		delay = max(delay, min(rejectionFirst<<i.rejections, rejectionMax))
	}
	i.rejections++
	i.g.positions[rejected].Add(len(positions))
	i.g.emit(observe.Event{Kind: observe.PositionsRejected, ID: i.batch, Count: len(positions), Text: why.String()})
	if err := i.source.Reject(ctx, positions, contract.Refusal{Reason: why, Delay: delay}); err != nil && ctx.Err() == nil {
		i.lost(ctx, err)
		if i.stopped.Load() != nil {
			return
		}
	}
	if i.hostState() && i.rejections >= rejectionsMax {
		cursorStopped.Hit()
		i.halt("stopped after 5 consecutive rejected batches")
		return
	}
	i.rest(turn, delay)
}

// unacknowledged handles a confirmation that failed: the same positions are
// rejected, and the position class decides if that fails too.
func (i *instance) unacknowledged(ctx, turn context.Context, positions []contract.Position, err error) {
	confirmationFailed.Hit()
	i.fail(err)
	i.unconfirmed = true
	if i.hostState() {
		i.halt("acknowledgement failed")
		return
	}
	i.reject(ctx, turn, positions, contract.RefusedByConfirmation)
}

// lost applies the position class after a failed rejection. A position that
// dies with its connection is forgotten: the external system presents the
// message again. A cursor source cannot know what its rejection did.
func (i *instance) lost(ctx context.Context, err error) {
	i.fail(err)
	if i.hostState() {
		i.halt("rejection failed")
		return
	}
	i.ready.Store(false)
	i.suspend(ctx)
}

// halt stops the instance until an operator acts. The source stays open.
func (i *instance) halt(why string) {
	i.ready.Store(false)
	i.stopped.Store(&why)
	i.status.transient.Store(&flow.Transient{Err: errors.New(why)})
	i.g.d.Report(i.g.self, errors.New(why))
}

// restore hands the persisted state to a cursor source before its first resume.
func (i *instance) restore(ctx context.Context, source contract.StatefulSource) error {
	s, found, err := i.g.host.cursors.Load(ctx, i.key())
	if err != nil {
		return err
	}
	return source.Restore(ctx, s, found)
}

// save makes the candidate state durable before the source commits (H5).
func (i *instance) save(ctx context.Context, s contract.State) error {
	err := i.g.host.cursors.Save(ctx, i.key(), s)
	if err != nil {
		i.g.saves[0].Add(1)
		return err
	}
	i.g.saves[1].Add(1)
	i.g.stateBytes.Set(int64(len(s.Bytes)))
	i.g.emit(observe.Event{Kind: observe.StateSaved, ID: i.batch})
	return nil
}

func (i *instance) key() state.Key {
	return state.Key{Domain: i.g.d.Name(), Ingestor: i.g.plan.Name, Instance: i.number}
}
