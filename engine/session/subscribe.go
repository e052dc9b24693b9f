package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/codec"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// subscription is one open subscription of a session.
type subscription struct {
	name  string
	asked *primitives.Event // its end was asked for
}

func (s *subscription) end() { s.asked.Set() }

// subscribing is a checked CREATE SUBSCRIPTION.
type subscribing struct {
	*decide.Subscription
	domain *catalog.Domain
}

// Subscribe serves one subscription until it ends. The first frame is Opened.
func (s *Service) Subscribe(ctx context.Context, user *catalog.User, r *sessionpb.SubscribeRequest, send func(*sessionpb.SubscriptionFrame) error) error {
	if r.GetFormat() != sessionpb.RowFormat_ARROW && r.GetFormat() != sessionpb.RowFormat_JSON {
		return refusal(client.InvalidArgument, "format: ARROW or JSON is required")
	}
	if !s.deps.Runtime.Admitted() {
		return refusal(client.Unavailable, "the node has not been admitted yet; retry")
	}
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return err
	}
	if err := s.holds(ctx, x, "a subscription cannot be opened"); err != nil {
		return err
	}
	asked, err := s.check(r)
	if err != nil {
		return err
	}
	sub := &subscription{name: asked.Name, asked: primitives.NewEvent(s.world)}
	if err := s.enlist(ctx, x, sub); err != nil {
		return err
	}
	defer s.delist(x, sub)
	return s.stream(ctx, x, sub, asked, r.GetFormat(), send)
}

// check reads the statement and finds what it names.
func (s *Service) check(r *sessionpb.SubscribeRequest) (*subscribing, error) {
	statement, err := parse.Statement(r.GetStatement())
	if err != nil {
		return nil, refuseStatement(r.GetStatement(), diagnostics(err))
	}
	create, ok := statement.(*ast.CreateSubscription)
	if !ok {
		return nil, refusal(client.InvalidArgument, "statement: expected CREATE SUBSCRIPTION, found %s", ast.Words(statement))
	}
	state := s.deps.Group.State()
	candidate, missing := decide.NewCandidate(state, r.GetDomain())
	if missing != nil {
		return nil, refuseStatement(r.GetStatement(), ast.Diagnostics{missing})
	}
	checked, found := candidate.Subscription(create)
	if len(found) > 0 {
		return nil, refuseStatement(r.GetStatement(), found)
	}
	if what := checked.Where.Missing(); what != "" {
		return nil, refuseStatement(r.GetStatement(), ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, checked.Where.Span, "not available yet: %s", what)})
	}
	domain, _ := state.Domain(r.GetDomain())
	return &subscribing{checked, domain}, nil
}

func refuseStatement(text string, found ast.Diagnostics) error {
	return &client.Error{Code: client.InvalidArgument, Message: strings.TrimSuffix(found.Explain(text), "\n")}
}

func (s *Service) enlist(ctx context.Context, x *session, sub *subscription) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	if _, taken := x.subscriptions[sub.name]; taken {
		return refusal(client.InvalidArgument, "%s: the session has a subscription '%s' already", codeSessionRefused, sub.name)
	}
	if x.ended.IsSet() || s.stopping.IsSet() {
		return errStopping
	}
	x.subscriptions[sub.name] = sub
	return nil
}

func (s *Service) delist(x *session, sub *subscription) {
	_ = s.lock.Lock(context.Background()) // must not be skipped
	delete(x.subscriptions, sub.name)
	s.lock.Unlock()
}

// Unsubscribe ends a subscription by its DELETE SUBSCRIPTION statement.
func (s *Service) Unsubscribe(ctx context.Context, user *catalog.User, r *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error) {
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	statement, err := parse.Statement(r.GetStatement())
	if err != nil {
		return nil, refuseStatement(r.GetStatement(), diagnostics(err))
	}
	drop, ok := statement.(*ast.DeleteSubscription)
	if !ok {
		return nil, refusal(client.InvalidArgument, "statement: expected DELETE SUBSCRIPTION, found %s", ast.Words(statement))
	}
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	sub := x.subscriptions[drop.Name.Text]
	s.lock.Unlock()
	if sub == nil {
		return nil, refuseStatement(r.GetStatement(), ast.Diagnostics{ast.Errorf(ast.CodeRefMissing, drop.Name.Span,
			"the session has no subscription '%s'", drop.Name.Text)})
	}
	sub.end()
	return &sessionpb.UnsubscribeReply{Text: fmt.Sprintf("deleted subscription '%s'", drop.Name.Text)}, nil
}

// stream attaches to the relay and forwards frames.
func (s *Service) stream(ctx context.Context, x *session, sub *subscription, asked *subscribing, format sessionpb.RowFormat, send func(*sessionpb.SubscriptionFrame) error) error {
	if err := s.deps.Runtime.Settle(ctx, asked.domain.Name, asked.domain.Runtime); err != nil {
		return refusal(client.Unavailable, "%v", err)
	}
	domain := s.deps.Runtime.Domain(asked.domain.Name)
	if domain == nil {
		return refusal(client.Unavailable, "domain '%s' is not executed by this node", asked.domain.Name)
	}
	queue := flow.NewFrameQueue(s.world)
	attached, err := domain.Subscribe(ctx, asked.Relay.Text, flow.SubscribeOptions{
		Name: asked.Name, Dropping: asked.Dropping, SampleRate: asked.SampleRate, Where: asked.Subscription.Where, Queue: queue,
	})
	switch {
	case errors.Is(err, flow.ErrNoRelay):
		return refusal(client.InvalidArgument, "%s: %v", ast.CodeRefMissing, err)
	case err != nil:
		return refusal(client.Unavailable, "%v", err)
	}
	defer func() {
		attached.Close()
		for f, ok := queue.TryRecv(); ok; f, ok = queue.TryRecv() {
			if f.Batch != nil {
				f.Batch.Release()
			}
		}
	}()
	out := newRowWriter(attached.Schema(), format)
	opened, err := out.opened(asked.Name, s.next.Add(1))
	if err != nil {
		return err
	}
	if err := send(opened); err != nil {
		return err
	}
	for {
		var f flow.Frame
		fired, err := primitives.Select(ctx, s.world, queue.OnRecv(&f), sub.asked.OnSet(), x.ended.OnSet(), s.stopping.OnSet())
		switch {
		case err != nil:
			return err
		case fired == 1 && !x.ended.IsSet():
			return send(ended("unsubscribed"))
		case fired > 0:
			// Not the subscription ends but the session: its client can go on elsewhere.
			return errStopping
		}
		last, err := out.forward(f, send)
		if err != nil || last {
			return err
		}
	}
}

func ended(reason string) *sessionpb.SubscriptionFrame {
	return &sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Ended{Ended: &sessionpb.Ended{Reason: reason}}}
}

// rowWriter turns frames of the data plane into those of the protocol.
type rowWriter struct {
	schema   *vocab.Schema
	format   sessionpb.RowFormat
	renderer *codec.Renderer
	arrow    *arrow.Schema
	buffer   []byte
}

func newRowWriter(schema *vocab.Schema, format sessionpb.RowFormat) *rowWriter {
	w := &rowWriter{schema: schema, format: format}
	if format == sessionpb.RowFormat_JSON {
		w.renderer = codec.NewRenderer(schema)
	} else {
		w.arrow = redactedSchema(schema)
	}
	return w
}

// redactedSchema marks sensitive columns, which are sent empty.
func redactedSchema(schema *vocab.Schema) *arrow.Schema {
	fields := batch.ArrowSchema(schema).Fields()
	for i, f := range schema.Fields {
		if f.Sensitive {
			fields[i].Nullable = true
			fields[i].Metadata = arrow.NewMetadata([]string{"plexus.redacted"}, []string{"1"})
		}
	}
	return arrow.NewSchema(fields, nil)
}

func (w *rowWriter) opened(name string, generation uint64) (*sessionpb.SubscriptionFrame, error) {
	o := &sessionpb.Opened{Name: name, Generation: generation}
	for _, f := range w.schema.Fields {
		o.Columns = append(o.Columns, &sessionpb.Column{
			Name: f.Name, Type: f.Type.String(), Optional: f.Optional, Sensitive: f.Sensitive,
		})
	}
	if w.arrow != nil {
		var b bytes.Buffer
		stream := ipc.NewWriter(&b, ipc.WithSchema(w.arrow))
		if err := stream.Close(); err != nil {
			return nil, fmt.Errorf("encode schema: %w", err)
		}
		o.ArrowSchema = b.Bytes()
	}
	return &sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Opened{Opened: o}}, nil
}

// forward sends what a frame says; last is true after the end.
func (w *rowWriter) forward(f flow.Frame, send func(*sessionpb.SubscriptionFrame) error) (last bool, err error) {
	switch f.Kind {
	case flow.FrameRows:
		defer f.Batch.Release()
		if w.arrow != nil {
			return false, w.sendArrow(f.Batch, send)
		}
		return false, w.sendJSON(f.Batch, send)
	case flow.FrameLost:
		return false, send(&sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Lost{Lost: &sessionpb.Lost{Count: uint64(f.Count)}}})
	case flow.FrameSkipped:
		return false, send(skipped(f.Count, f.Cause))
	}
	return true, send(ended(f.End.String()))
}

func skipped(count int, cause string) *sessionpb.SubscriptionFrame {
	return &sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Skipped{
		Skipped: &sessionpb.Skipped{Count: uint64(count), Cause: cause}}}
}

// tooLarge is the cause of rows that no frame can hold.
const tooLarge = "row_too_large"

// sendJSON writes one object per row, in as many frames as the size needs.
func (w *rowWriter) sendJSON(rows arrow.RecordBatch, send func(*sessionpb.SubscriptionFrame) error) error {
	w.renderer.Bind(rows)
	var list []string
	size, oversized := 0, 0
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		frame := &sessionpb.Rows{Count: uint32(len(list)), Json: list}
		list, size = nil, 0
		return send(&sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Rows{Rows: frame}})
	}
	for i := range int(rows.NumRows()) {
		w.buffer = w.renderer.Append(w.buffer[:0], i)
		if len(w.buffer) > frameJSONBytes {
			oversized++
			continue
		}
		if size+len(w.buffer) > frameJSONBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		list, size = append(list, string(w.buffer)), size+len(w.buffer)
	}
	if err := flush(); err != nil || oversized == 0 {
		return err
	}
	return send(skipped(oversized, tooLarge))
}

// sendArrow writes the batch as an IPC stream of its own, sensitive columns
// empty. A batch that is too large is halved.
func (w *rowWriter) sendArrow(rows arrow.RecordBatch, send func(*sessionpb.SubscriptionFrame) error) error {
	redacted := w.redact(rows)
	defer redacted.Release()
	var b bytes.Buffer
	stream := ipc.NewWriter(&b, ipc.WithSchema(w.arrow))
	if err := errors.Join(stream.Write(redacted), stream.Close()); err != nil {
		return fmt.Errorf("encode rows: %w", err)
	}
	switch n := rows.NumRows(); {
	case b.Len() <= frameJSONBytes:
		frame := &sessionpb.Rows{Count: uint32(n), Arrow: b.Bytes()}
		return send(&sessionpb.SubscriptionFrame{Body: &sessionpb.SubscriptionFrame_Rows{Rows: frame}})
	case n == 1:
		return send(skipped(1, tooLarge))
	default:
		for _, cut := range [][2]int64{{0, n / 2}, {n / 2, n}} {
			part := rows.NewSlice(cut[0], cut[1])
			err := w.sendArrow(part, send)
			part.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (w *rowWriter) redact(rows arrow.RecordBatch) arrow.RecordBatch {
	columns := make([]arrow.Array, rows.NumCols())
	for i, f := range w.schema.Fields {
		columns[i] = rows.Column(i)
		if f.Sensitive {
			columns[i] = batch.Nulls(memory.DefaultAllocator, rows.Column(i).DataType(), int(rows.NumRows()))
			defer columns[i].Release()
		}
	}
	return array.NewRecordBatch(w.arrow, columns, rows.NumRows())
}
