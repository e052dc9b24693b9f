package exchangetest

import (
	"context"
	"errors"
	"time"

	"plexus/engine/exchange"
	"plexus/engine/interconnect"
	"plexus/primitives"
)

// unreliable loses, doubles and delays single messages of an exchange.
type unreliable struct {
	exchange.Port
	node  *Node
	w     primitives.World
	tasks *primitives.Group
}

var errSwallowed = errors.New("swallowed")

// The chances of a message, in parts per million.
const (
	swallow  = 50_000
	postLoss = 200_000
)

func (u *unreliable) chance(ppm uint64) bool { return u.node.c.chance(ppm) }

// pause delays a message now and then.
func (u *unreliable) pause(ctx context.Context, most time.Duration) error {
	if !u.chance(swallow) {
		return nil
	}
	return primitives.Sleep(ctx, u.w, time.Duration(u.node.c.draw(uint64(most))))
}

// stray lets a copy of a message arrive later, whatever its sender does.
func (u *unreliable) stray(send func(ctx context.Context)) {
	if !u.chance(swallow) {
		return
	}
	wait := time.Duration(u.node.c.draw(uint64(8 * time.Second)))
	u.tasks.Go("stray message", func(ctx context.Context) error {
		ctx, end := primitives.WithDeadline(ctx, u.w, u.w.Clock().Now().Add(wait+5*time.Second))
		defer end()
		if primitives.Sleep(ctx, u.w, wait) == nil {
			send(ctx)
		}
		return nil
	})
}

// Ask implements exchange.Port.
func (u *unreliable) Ask(ctx context.Context, to exchange.Process, op interconnect.Operation, message []byte) ([]byte, error) {
	if u.chance(swallow) {
		return nil, errSwallowed
	}
	if err := u.pause(ctx, 3*time.Second); err != nil {
		return nil, err
	}
	u.stray(func(ctx context.Context) { _, _ = u.Port.Ask(ctx, to, op, message) })
	reply, err := u.Port.Ask(ctx, to, op, message)
	if u.chance(swallow) {
		return nil, errSwallowed
	}
	return reply, err
}

// Transfer implements exchange.Port.
func (u *unreliable) Transfer(ctx context.Context, to exchange.Process, channel uint64, head, body []byte) ([]byte, error) {
	if u.chance(swallow) {
		return nil, errSwallowed
	}
	u.stray(func(ctx context.Context) { _, _ = u.Port.Transfer(ctx, to, channel, head, body) })
	if err := u.pause(ctx, 7*time.Second); err != nil {
		return nil, err
	}
	reply, err := u.Port.Transfer(ctx, to, channel, head, body)
	if u.chance(swallow) {
		return nil, errSwallowed
	}
	return reply, err
}

// Post implements exchange.Port.
func (u *unreliable) Post(to exchange.Process, message []byte) {
	if !u.chance(postLoss) {
		u.Port.Post(to, message)
	}
}
