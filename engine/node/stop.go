package node

import (
	"context"
	"errors"

	"plexus/engine/interconnect"
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
	if err := n.runtime.drain(within, started.Add(n.settings.DrainTimeout)); err != nil {
		log.Warn("stop: drain abandoned", "error", err)
	}
	log.Info("stop: the control plane ends")
	err = n.teardown(within)
	err = errors.Join(err, n.closeObservability(within))
	return forced || within.Err() != nil, err
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
