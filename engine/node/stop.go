package node

import (
	"context"
	"errors"
	"time"

	"plexus/engine/interconnect"
	"plexus/engine/leader"
	"plexus/primitives"
)

// Stop ends the node in order: admission, admitted work, the control plane.
// forced reports that the time was over before everything had ended by itself.
func (n *Node) Stop(ctx context.Context) (forced bool, err error) {
	n.stopping.Store(true)
	n.mesh.Announce(func(a *interconnect.Announcement) { a.Terminating = true })
	started := n.world.Clock().Now()
	within, cancel := primitives.WithDeadline(ctx, n.world, started.Add(n.settings.ShutdownTimeout))
	defer cancel()
	log := n.world.Log()
	log.Info("stop: admission ends")
	if err := n.service.Stop(within); err != nil {
		forced = true
		log.Warn("stop: admitted commands did not finish", "error", err)
	}
	if err := n.closeListeners(within); err != nil {
		log.Warn("stop: a listener did not close in time", "error", err)
	}
	log.Info("stop: finishing admitted work", "bound", n.settings.DrainTimeout)
	n.handOver(within, started.Add(n.settings.DrainTimeout/2))
	if err := n.runtime.drain(within, started.Add(n.settings.DrainTimeout)); err != nil {
		log.Warn("stop: drain abandoned", "error", err)
	}
	n.settle(within, started.Add(n.settings.DrainTimeout))
	log.Info("stop: the control plane ends")
	n.abdicate(within)
	err = n.teardown(within)
	err = errors.Join(err, n.closeObservability(within))
	return forced || within.Err() != nil, err
}

// handOver gives leadership and what this node owns to others, as long as there are
// any, until the deadline: half of the time for a drain, because what cannot move
// has to come to rest here. A leader that takes no commands any more gives way first.
func (n *Node) handOver(ctx context.Context, deadline primitives.Instant) {
	if !n.joined.IsSet() || n.group.Err() != nil {
		return
	}
	ctx, cancel := primitives.WithDeadline(ctx, n.world, deadline)
	defer cancel()
	n.abdicate(ctx)
	n.leader.Ending()
	follower := n.group.Follow()
	defer n.group.Unfollow(follower)
	leaderless := 0
	for {
		unfinished := leader.Unfinished(n.group.State(), n.members.self())
		if _, known := n.group.Leader(); known {
			leaderless = 0
		} else {
			leaderless++
		}
		switch {
		case unfinished == 0 || !n.members.succeeded() || leaderless > leaderlessLooks || n.group.Err() != nil:
			return
		case ctx.Err() != nil:
			n.world.Log().Warn("stop: not everything went to other nodes", "left", unfinished)
			return
		}
		look := primitives.AtCase(n.world, n.world.Clock().Now().Add(handOverLook))
		_, _ = primitives.Select(ctx, n.world, follower.OnChange(), look) // the next look says
	}
}

const (
	handOverLook = 200 * time.Millisecond
	// leaderlessLooks is how many looks without a leader, in a row, show that nobody
	// will take anything.
	leaderlessLooks = 20
)

// settle lets other nodes hear what became of what they sent here.
func (n *Node) settle(ctx context.Context, deadline primitives.Instant) {
	ctx, cancel := primitives.WithDeadline(ctx, n.world, deadline)
	defer cancel()
	if err := n.exchange.Settle(ctx); err != nil {
		n.world.Log().Warn("stop: other nodes do not know the end of everything they sent", "error", err)
	}
}

// abdicate offers leadership to another voter.
func (n *Node) abdicate(ctx context.Context) {
	if !n.joined.IsSet() || n.group.Err() != nil {
		return
	}
	if err := n.group.TransferLeadership(ctx); err != nil {
		n.world.Log().Warn("stop: leadership was not handed over", "error", err)
	}
}

func (n *Node) closeListeners(ctx context.Context) (err error) {
	if n.sessions != nil {
		err = n.sessions.Close(ctx)
		n.sessions = nil
	}
	if n.endpoints {
		err = errors.Join(err, n.listeners.Endpoints.Close(ctx))
		n.endpoints = false
	}
	return err
}

func (n *Node) closeObservability(ctx context.Context) error {
	if n.observability == nil {
		return nil
	}
	return n.observability.Close(ctx)
}

// teardown ends what is left and releases the data directory.
func (n *Node) teardown(ctx context.Context) error {
	n.tasks.Cancel(errStopped)
	var err error
	// What ends because it was told to is no failure.
	if waitErr := n.tasks.Wait(ctx); waitErr != nil && ctx.Err() != nil {
		err = waitErr
	}
	if n.handoffs != nil {
		err = errors.Join(err, n.handoffs.stop(ctx))
	}
	if n.holds != nil {
		err = errors.Join(err, n.holds.stop(ctx))
	}
	return errors.Join(err, n.exchange.Close(ctx), n.group.Stop(ctx), n.mesh.Stop(ctx), n.executor.Close(ctx))
}

var errStopped = errors.New("node stopped")
