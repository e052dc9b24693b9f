package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	sourceResumed  = invariant.Sometimes("a source was resumed after it had been ready")
	quiesceDrained = invariant.Sometimes("a quiesce buffer was drained into the graph")
)

// instance is the loop of one source instance (H1).
type instance struct {
	g      *ingestor
	number int
	open   contract.SourceOpener
	world  primitives.World
	task   *flow.Task

	// turn cancels the wait the loop is in, so that it looks at held and stopping.
	turn    atomic.Pointer[context.CancelFunc]
	ready   atomic.Bool
	stopped atomic.Pointer[string] // why it will not go on by itself
	status  status

	// What follows belongs to the task; group is guarded by mu where the idle
	// closer runs.
	source  contract.BatchSource
	retry   backoff
	group   *group
	mu      *primitives.Mutex
	filled  *primitives.Notice // the open group got its first message
	quiesce quiesceBuffer
	batch   uint64 // number of the batch in hand, for the tap
	was     bool   // ready before
	// unconfirmed is the status of a failed confirmation, which only a later
	// confirmation clears.
	unconfirmed bool
	rejections  int // consecutive, of a cursor source
}

func newInstance(g *ingestor, number int, open contract.SourceOpener) *instance {
	i := &instance{
		g: g, number: number, open: open, world: g.d.World(),
		retry: newBackoff(reconnectFirst, reconnectMax), quiesce: newQuiesceBuffer(g.plan.Source.Quiesce),
	}
	i.mu, i.filled = primitives.NewMutex(i.world), primitives.NewNotice(i.world)
	if mode := g.plan.Source.Mode; mode.Acknowledged {
		i.retry = newBackoff(mode.Retry.Backoff, mode.Retry.Max)
	}
	return i
}

func (i *instance) acknowledges() bool { return i.g.plan.Source.Mode.Acknowledged }

// interrupt ends the wait the loop is in.
func (i *instance) interrupt() {
	if cancel := i.turn.Load(); cancel != nil {
		(*cancel)()
	}
}

// run opens the source and drives it until it is stopped.
func (i *instance) run(ctx context.Context) error {
	i.group = i.g.newGroup()
	defer i.group.release()
	var closer *flow.Task
	if !i.acknowledges() {
		closer = i.g.d.Start("group closer", i.closeIdle)
		defer closer.Stop()
	}
	turn := i.begin(ctx)
	for i.source == nil {
		if turn.Err() != nil {
			turn = i.begin(ctx)
		}
		if i.leaving(ctx) {
			return nil
		}
		if err := i.openSource(turn); err != nil && turn.Err() == nil {
			i.fail(err)
			i.rest(turn, i.retry.take())
		}
	}
	defer i.closeSource()
	defer i.ready.Store(false)
	defer i.g.holding(&i.quiesce, i.quiesce.discard)
	for {
		if turn.Err() != nil {
			turn = i.begin(ctx)
		}
		if i.leaving(ctx) {
			i.finishGroup(ctx)
			return nil
		}
		i.step(ctx, turn)
	}
}

// begin opens the scope of the next waits. A change that comes before the loop
// has looked at it cancels the new scope.
func (i *instance) begin(ctx context.Context) context.Context {
	turn, cancel := primitives.WithCancel(ctx, i.world)
	i.turn.Store(&cancel)
	return turn
}

func (i *instance) leaving(ctx context.Context) bool { return ctx.Err() != nil || i.g.stopping.Load() }

// openSource opens the connector and, for a cursor source, restores its state.
func (i *instance) openSource(ctx context.Context) error {
	g := i.g
	if i.open == nil {
		return &StartError{"ingestor " + g.plan.Name, "open", errNoConnector}
	}
	s := &g.plan.Source
	source, err := i.open(ctx, contract.SourcePlan{
		Entity: s.Entity, Client: client(s.Client), Names: s.Names, Mode: s.Mode, Cursor: s.Cursor, Seed: s.Seed,
	}, i.number, g.env(&i.status))
	if err != nil {
		return err
	}
	batches, ok := source.(contract.BatchSource)
	invariant.That(ok, "a source of the broker loop is a BatchSource")
	if stateful, ok := source.(contract.StatefulSource); ok {
		if err := i.restore(ctx, stateful); err != nil {
			closeCtx, cancel := closing(i.world)
			defer cancel()
			return errors.Join(err, source.Close(closeCtx))
		}
	}
	i.source = batches
	return nil
}

func (i *instance) closeSource() {
	ctx, cancel := closing(i.world)
	defer cancel()
	if err := i.source.Close(ctx); err != nil {
		i.g.d.Report(i.g.self, err)
	}
}

// step is one turn of the loop. turn ends with every change of the lifecycle;
// ctx only when the task is cancelled, so admitted work goes on.
func (i *instance) step(ctx, turn context.Context) {
	switch {
	case i.stopped.Load() != nil:
		i.rest(turn, foreverWait)
		return
	case i.g.held() && i.holdSuspends():
		i.finishGroup(ctx)
		i.rest(turn, foreverWait)
		return
	case i.source.NeedsResume():
		i.resume(turn)
		return
	}
	if !i.g.held() && !i.drainQuiesce(ctx, turn) {
		return
	}
	if every := i.g.plan.Source.Cursor.Every; i.hostState() && every > 0 {
		if primitives.Sleep(turn, i.world, every) != nil {
			return
		}
	}
	b, err := i.source.NextBatch(turn, i.request())
	switch {
	case turn.Err() != nil && err != nil:
		return
	case err != nil:
		i.fail(err)
		if i.source.NeedsResume() {
			i.ready.Store(false)
		}
		i.rest(turn, i.retry.take())
	case b.Kind != contract.Messages:
		i.ready.Store(false)
		if b.Err != nil {
			i.fail(b.Err)
		}
		if !i.source.NeedsResume() {
			i.suspend(ctx)
		}
		i.rest(turn, i.retry.take())
	default:
		i.take(ctx, turn, b)
	}
}

// foreverWait ends with the turn.
const foreverWait = time.Duration(1<<63 - 1)

// rest waits, or ends with the turn.
func (i *instance) rest(turn context.Context, d time.Duration) {
	_ = primitives.Sleep(turn, i.world, d)
}

func (i *instance) hostState() bool { return i.g.caps.Position == vocab.HostState }

// holdSuspends reports whether a hold stops the requests: only BUFFER and DROP
// keep reading, unless intake is shut.
func (i *instance) holdSuspends() bool {
	if i.g.shut() {
		return true
	}
	body := i.g.plan.Source.Quiesce.Body
	return body != vocab.QuiesceBuffer && body != vocab.QuiesceDrop
}

// request is what the mode asks of one NextBatch.
func (i *instance) request() contract.BatchRequest {
	mode := &i.g.plan.Source.Mode
	switch {
	case i.hostState():
		return contract.BatchRequest{Max: int(i.g.plan.Source.Cursor.MaxRows)}
	case mode.Acknowledged && mode.Parallel:
		return contract.BatchRequest{Max: int(mode.Max), Timeout: mode.BatchTimeout}
	case mode.Parallel:
		return contract.BatchRequest{Max: groupRowsMax}
	}
	return contract.BatchRequest{Max: 1}
}

// resume connects until the source is ready.
func (i *instance) resume(turn context.Context) {
	i.ready.Store(false)
	resumed, err := i.source.Resume(turn)
	switch {
	case turn.Err() != nil && err != nil:
	case err != nil:
		i.fail(err)
		i.rest(turn, i.retry.take())
	case !resumed.Ready():
		i.rest(turn, resumed.WaitFor)
	default:
		sourceResumed.HitIf(i.was)
		i.was = true
		i.ready.Store(true)
		if !i.unconfirmed {
			i.status.clear()
		}
	}
}

func (i *instance) suspend(ctx context.Context) {
	if err := i.source.Suspend(ctx); err != nil && ctx.Err() == nil {
		i.g.d.Report(i.g.self, err)
	}
}

// fail shows a failure as transient status. ON GENERAL ERROR LOG reports the
// first of a streak: a minute of refused connections is one line.
func (i *instance) fail(err error) {
	streak := i.status.transient.Load() != nil
	i.status.transient.Store(&flow.Transient{Err: err, Backoff: i.retry.next, Until: i.world.Clock().Now().Add(i.retry.next)})
	if !streak && i.g.plan.GeneralError == decide.GeneralLog {
		i.g.d.Report(i.g.self, err)
	}
}

// take admits the messages of a batch in the way of the mode.
func (i *instance) take(ctx, turn context.Context, b contract.Batch) {
	var bytes int64
	for n := range b.Messages {
		bytes += int64(len(b.Messages[n].Payload))
	}
	if len(b.Messages) > 0 {
		i.g.edge.Batch(i.world.Clock().Now(), len(b.Messages), bytes)
	}
	if i.acknowledges() {
		if len(b.Messages) > 0 || b.State != nil {
			i.acknowledgeBatch(ctx, turn, b)
		}
		return
	}
	i.retry.reset()
	i.status.clear()
	for n := range b.Messages {
		p := fromMessage(&b.Messages[n])
		if i.g.held() {
			i.hold(p)
			continue
		}
		i.admit(ctx, p)
	}
}

// hold follows the ON QUIESCE body for one payload.
func (i *instance) hold(p payload) {
	if i.g.plan.Source.Quiesce.Body == vocab.QuiesceDrop {
		i.g.dropped.Add(1)
		return
	}
	i.g.holding(&i.quiesce, func() {
		if !i.quiesce.put(p) {
			i.g.dropped.Add(1)
		}
	})
}

// drainQuiesce puts what was held into the graph, oldest first, before live
// intake. It reports whether nothing is left.
func (i *instance) drainQuiesce(ctx, turn context.Context) bool {
	for {
		p, ok := i.quiesce.front()
		if !ok {
			return true
		}
		if turn.Err() != nil {
			return false
		}
		quiesceDrained.Hit()
		i.admit(ctx, p)
		i.g.holding(&i.quiesce, i.quiesce.pop)
	}
}

// admit puts one unacknowledged payload into the open group.
func (i *instance) admit(ctx context.Context, p payload) {
	if i.mu.Lock(ctx) != nil {
		return
	}
	defer i.mu.Unlock()
	// The group outlives the loan of the batch.
	p.headers = append([]contract.Header(nil), p.headers...)
	first := i.group.rows.Rows() == 0
	if err := i.group.add(ctx, p, nil); err != nil {
		if decode := (*DecodeError)(nil); errors.As(err, &decode) {
			i.g.undecodable(decode)
		}
	}
	if i.g.caps.Grouping == vocab.FlushEachMessage {
		_, _ = i.group.close(ctx, closedRequest, nil, nil)
	}
	if first {
		i.filled.Raise()
	}
}

// finishGroup executes the open group at once: a drain does not wait for more
// messages.
func (i *instance) finishGroup(ctx context.Context) {
	if i.mu.Lock(ctx) != nil {
		return
	}
	defer i.mu.Unlock()
	_, _ = i.group.close(ctx, closedFlush, nil, nil)
}

// closeIdle executes the group once no message followed for a while. It is the
// one thing besides the loop that touches the group.
func (i *instance) closeIdle(ctx context.Context) error {
	for {
		if i.mu.Lock(ctx) != nil {
			return nil
		}
		at := i.group.idleAt()
		if at <= i.world.Clock().Now() {
			groupIdle.Hit()
			_, _ = i.group.close(ctx, closedIdle, nil, nil)
		}
		i.mu.Unlock()
		if _, err := primitives.Select(ctx, i.world, i.filled.OnRaise(), primitives.AtCase(i.world, at)); err != nil {
			return nil
		}
	}
}
