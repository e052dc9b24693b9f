package oracle

import (
	"bytes"
	"context"
	"fmt"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/primitives"
)

// sinkWatch is what is known of one emitter.
type sinkWatch struct {
	boundary *Boundary
	emitter  string

	// offered is when the latest record that was offered for the first time arrived,
	// by lane of the intake.
	offered  map[uint32]uint64
	retained []payloads // unresolved, in their order
	payloads [][]byte   // of the write in progress, lent

	// Of the write in progress, for sinks whose answers the driver sees.
	handed  int // records up to here were handed to the driver
	pending []answer
}

// payloads is what an emitter has to offer again.
type payloads struct {
	bytes     []byte
	confirmed bool // the driver heard so, and the outcome did not say it
}

// answer is the driver's handle for one record.
type answer struct {
	record  int
	pending contract.Pending
}

// offer checks a write before the sink gets it.
func (w *sinkWatch) offer(records [][]byte) {
	w.payloads, w.handed, w.pending = records, 0, w.pending[:0]
	for i, payload := range records {
		if i >= len(w.retained) {
			w.first(payload)
			continue
		}
		kept := &w.retained[i]
		switch {
		case !bytes.Equal(kept.bytes, payload):
			w.violated("retained-first", "offers %.80q where it owes %.80q", payload, kept.bytes)
			return
		case kept.confirmed:
			w.violated("no-confirmed-record-resent", "offers %.80q again, which the broker had confirmed", payload)
			return
		}
	}
	if len(records) < len(w.retained) {
		w.violated("retained-first", "offers %d records where it owes %d", len(records), len(w.retained))
	}
}

// first checks the order of a payload that was never offered before: some copy
// of each record arrived after all that was offered before it.
func (w *sinkWatch) first(payload []byte) {
	if w.boundary.number == nil {
		return
	}
	each := func(document []byte) {
		number, ok := w.boundary.deliveries.number(document)
		if !ok {
			return // the ledger of the sink complains
		}
		switch n, one, known := w.boundary.intake.behind(number, w.offered); {
		case !known:
		case n == 0:
			w.violated("emitter-order", "offers record %d, no copy of which arrived after what it offered before", number)
		case n == 1:
			w.offered[one.lane] = one.at
		}
	}
	if len(payload) > 0 && payload[0] == '[' {
		JSONArray(payload, each)
		return
	}
	each(payload)
}

// answered notes what a write left unresolved.
func (w *sinkWatch) answered(out *contract.Outcome) {
	if len(out.Delivered) == len(w.payloads) {
		w.retained = w.retained[:0]
		return
	}
	resolved := make([]bool, len(w.payloads))
	for _, id := range out.Delivered {
		resolved[id] = true
	}
	for i := range out.Rejected {
		resolved[out.Rejected[i].ID] = true
		if w.boundary.Rejected != nil {
			w.boundary.Rejected(w.payloads[out.Rejected[i].ID])
		}
	}
	heard := make([]bool, len(w.payloads))
	for _, a := range w.pending {
		if given, ok := a.pending.Ready(); ok && given.Kind == contract.Confirmed {
			heard[a.record] = true
		}
	}
	w.retained = nil
	if out.Failure != nil && out.Failure.Class.Terminal() {
		return
	}
	for i, payload := range w.payloads {
		if !resolved[i] {
			w.retained = append(w.retained, payloads{bytes.Clone(payload), heard[i]})
		}
	}
}

func (w *sinkWatch) violated(oracle, format string, args ...any) {
	w.boundary.fail(oracle, "emitter "+w.emitter+" "+fmt.Sprintf(format, args...))
}

// recordWatch is a record sink under watch.
type recordWatch struct {
	contract.RecordSink
	watch *sinkWatch
}

func (s *recordWatch) Publish(ctx context.Context, records []contract.Record) contract.Outcome {
	list := s.watch.payloads[:0]
	for i := range records {
		list = append(list, records[i].Payload)
	}
	s.watch.offer(list)
	out := s.RecordSink.Publish(ctx, records)
	s.watch.answered(&out)
	return out
}

// requestWatch is a request sink under watch.
type requestWatch struct {
	contract.HTTPRequestSink
	watch *sinkWatch
}

func (s *requestWatch) Publish(ctx context.Context, requests []contract.HTTPRequest) contract.Outcome {
	list := s.watch.payloads[:0]
	for i := range requests {
		list = append(list, requests[i].Body)
	}
	s.watch.offer(list)
	out := s.HTTPRequestSink.Publish(ctx, requests)
	s.watch.answered(&out)
	return out
}

// NATS wraps the driver of NATS, so that the watch hears every answer that
// reached the node.
func (b *Boundary) NATS(d nats.Driver) nats.Driver { return &natsWatch{d, b} }

type natsWatch struct {
	inner    nats.Driver
	boundary *Boundary
}

func (d *natsWatch) Connect(ctx context.Context, w primitives.World, to nats.Target) (nats.Conn, error) {
	c, err := d.inner.Connect(ctx, w, to)
	if err != nil {
		return nil, err
	}
	return &natsConnWatch{c, d.boundary}, nil
}

type natsConnWatch struct {
	nats.Conn
	boundary *Boundary
}

func (c *natsConnWatch) PublishAwaited(subject string, headers []contract.Header, payload []byte) (contract.Pending, error) {
	p, err := c.Conn.PublishAwaited(subject, headers, payload)
	if w := c.boundary.subjects[subject]; w != nil && err == nil {
		w.hand(payload, p)
	}
	return p, err
}

// hand notes which record of the write the driver took. Records are handed over
// in order, and some not at all.
func (w *sinkWatch) hand(payload []byte, p contract.Pending) {
	for w.handed < len(w.payloads) && &w.payloads[w.handed][0] != &payload[0] {
		w.handed++
	}
	w.pending = append(w.pending, answer{w.handed, p})
	w.handed++
}

var (
	_ contract.RecordSink      = (*recordWatch)(nil)
	_ contract.HTTPRequestSink = (*requestWatch)(nil)
	_ nats.Conn                = (*natsConnWatch)(nil)
)
