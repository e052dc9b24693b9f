package exchange

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/ack"
	"plexus/engine/interconnect"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/planted"
)

var _ Server = (*Exchange)(nil)

// Answer implements Server.
func (x *Exchange) Answer(ctx context.Context, from Process, op interconnect.Operation, message []byte) ([]byte, error) {
	switch op {
	case interconnect.RelayGrant:
		return x.grants(from, message)
	case interconnect.RelayStatus:
		ids, err := decodeIdentities(message)
		if err != nil {
			return nil, malformedMessage(err)
		}
		answers := make([]answer, len(ids))
		x.step(func(now primitives.Instant) {
			for i, id := range ids {
				answers[i] = x.recv.status(now, from, id)
			}
		})
		return encodeAnswers(answers), nil
	case interconnect.RelayCancel:
		return x.cancels(ctx, from, message)
	case interconnect.RelayOutcome:
		run, list, err := decodeOutcomes(message)
		if err != nil {
			return nil, malformedMessage(err)
		}
		if run == x.port.Self().Epoch {
			x.step(func(now primitives.Instant) { x.send.outcomes(now, from, list) })
		}
		return nil, nil
	case interconnect.RelayAck:
		run, list, err := decodeReports(message)
		if err != nil {
			return nil, malformedMessage(err)
		}
		ignored := len(list)
		if run == x.port.Self().Epoch {
			x.step(func(now primitives.Instant) { ignored = x.send.reports(now, from, list) })
		}
		if ignored > 0 {
			x.world.Log().Debug("row reports of other registrations ignored", "node", from.Node, "reports", ignored)
		}
		return nil, nil
	}
	return nil, &Refusal{Class: Unavailable, Subject: "operation", Detail: op.String()}
}

func malformedMessage(err error) error {
	return &Refusal{Class: Failed, Subject: "message", Detail: err.Error()}
}

// Progress implements Server.
func (x *Exchange) Progress(from Process, message []byte) error {
	run, list, err := decodeProgress(message)
	if err != nil {
		return malformedMessage(err)
	}
	if run == x.port.Self().Epoch {
		x.step(func(now primitives.Instant) { x.send.progress(now, from, list) })
	}
	return nil
}

func (x *Exchange) grants(from Process, message []byte) ([]byte, error) {
	grants, err := decodeGrants(message)
	if err != nil {
		return nil, malformedMessage(err)
	}
	layouts := make([]*Layout, len(grants))
	refusals := make([]*Refusal, len(grants))
	for i := range grants {
		g := &grants[i]
		layouts[i], err = x.graph.Layout(g.role, g.domain, g.relay, g.note)
		if err != nil {
			refusals[i] = refusalOf(err, "relay")
		}
	}
	answers := make([]answer, len(grants))
	x.step(func(now primitives.Instant) {
		for i := range grants {
			answers[i] = x.recv.ask(now, from, &grants[i], layouts[i], refusals[i])
		}
	})
	return encodeAnswers(answers), nil
}

// refusalOf is the refusal that an error is or means.
func refusalOf(err error, subject string) *Refusal {
	if r, ok := interconnect.Refused(err); ok {
		return r
	}
	return &Refusal{Class: Failed, Subject: subject, Detail: err.Error()}
}

// cancels waits until every delivery it names has its verdict.
func (x *Exchange) cancels(ctx context.Context, from Process, message []byte) ([]byte, error) {
	ids, err := decodeIdentities(message)
	if err != nil {
		return nil, malformedMessage(err)
	}
	ctx, end := primitives.WithDeadline(ctx, x.world, x.world.Clock().Now().Add(x.limits.Request))
	defer end()
	decided := primitives.NewNotice(x.world)
	answers := make([]answer, len(ids))
	for {
		open := false
		x.step(func(now primitives.Instant) {
			for i, id := range ids {
				if answers[i].state != 0 {
					continue
				}
				a, in := x.recv.cancel(now, from, id)
				if in != nil {
					open = true
					in.waiters = append(in.waiters, decided.Raise)
				}
				answers[i] = a
			}
		})
		if !open {
			return encodeAnswers(answers), nil
		}
		if err := decided.Wait(ctx); err != nil {
			for i, id := range ids {
				if answers[i].state == 0 {
					answers[i] = refuseWith(id, NotReady, "verdict", "the graph has not decided")
				}
			}
			return encodeAnswers(answers), nil
		}
	}
}

// Body implements Server.
func (x *Exchange) Body(ctx context.Context, from Process, head []byte, read func() ([]byte, error)) ([]byte, error) {
	id, length, err := decodeHead(head)
	if err != nil {
		return nil, malformedMessage(err)
	}
	var in *inbound
	var a answer
	x.step(func(now primitives.Instant) { in, a = x.recv.open(now, from, id, length) })
	if in != nil {
		body, err := read()
		whole := err == nil && len(body) == length
		x.step(func(now primitives.Instant) { a = x.recv.read(now, in, body, whole) })
		if whole && a.state == stateReceived {
			x.tasks.Go("relay delivery", func(ctx context.Context) error {
				x.accept(ctx, in)
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("body of %s: %w", in.grant.relay, err)
		}
	}
	var m builder
	a.append(&m)
	return m.b, nil
}

// accept decodes a received body and lets the graph decide.
func (x *Exchange) accept(ctx context.Context, in *inbound) {
	var b *Batch
	var err error
	if busy := x.run(ctx, in.grant.length, func() { b, err = Decode(in.layout, in.received) }); busy != nil {
		err = &Refusal{Class: NotReady, Subject: "executor", Detail: busy.Error()}
	}
	if err == nil && int(b.Record.NumRows()) != in.grant.rows {
		err = malformed("row count", b.Record.NumRows(), int64(in.grant.rows))
		b.Record.Release()
	}
	if err != nil {
		x.step(func(now primitives.Instant) {
			if in.stage == stageReceived {
				x.recv.decide(now, in, answer{id: in.grant.id, state: stateRejected, refusal: refusalOf(err, "body")})
			}
		})
		return
	}
	b.Note = in.note
	deciding, stop := primitives.WithCancel(ctx, x.world)
	defer stop()
	begun := false
	var acks *ack.Set
	x.step(func(now primitives.Instant) {
		if begun = x.recv.accepting(in, stop); begun && in.grant.registration.Generation != 0 {
			in.open, in.told = in.grant.rows, now
			in.tree, acks = x.recv.ledger(in.grant.domain).Watch(in.grant.rows, now, func(rows []int32, out ack.Outcome) { x.rowsEnded(in, rows, out) })
		}
	})
	if !begun {
		b.Record.Release()
		return
	}
	if planted.Active(planted.AdmitBeforeGraph) {
		x.step(func(now primitives.Instant) { x.recv.decide(now, in, answer{id: in.grant.id, state: stateAdmitted}) })
	}
	ch := Channel{Node: x.port.Self().Node, Role: in.grant.role, Domain: in.grant.domain, Relay: in.grant.relay, Branch: in.grant.branch}
	err = x.graph.Accept(deciding, in.peer.process, ch, b, acks)
	x.step(func(now primitives.Instant) {
		a := answer{id: in.grant.id, state: stateAdmitted}
		switch {
		case err == nil:
			x.recv.observe(in, observe.Event{Kind: observe.DeliveryTaken})
		case in.cancelled || errors.Is(err, context.Canceled):
			a.state = stateCancelled
		default:
			a.state, a.refusal = stateRejected, refusalOf(err, "graph")
		}
		if in.stage == stageAccepting {
			x.recv.decide(now, in, a)
		}
	})
	if err != nil {
		b.Record.Release()
		acks.Fail(x.world.Clock().Now(), ack.Dropped)
	}
}
