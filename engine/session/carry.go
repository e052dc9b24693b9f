package session

import (
	"context"

	"plexus/engine/catalog"
	"plexus/engine/transaction"
	"plexus/engine/transaction/transactionpb"
)

// carry brings what a change takes away or moves to rest, has its effect
// committed, and lets go once it is usable.
func (s *Service) carry(ctx context.Context, m Move, effect Effect) error {
	if len(m.Moves) > 0 && s.deps.Cluster != nil {
		return s.deps.Cluster.Move(ctx, m, effect)
	}
	if m.Drains {
		hold, err := s.deps.Runtime.Quiesce(ctx, m.Domain)
		if err == nil {
			defer hold.Release()
			err = hold.Confirm(ctx)
		}
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			return &MoveError{Code: "drain", Err: err}
		}
	}
	if err := effect.Commit(ctx); err != nil {
		return err
	}
	return effect.Ready(ctx)
}

// holdOf is what a planned step has to bring to rest, nil for nothing.
func holdOf(state *catalog.State, domain string, step *transactionpb.Step) (*Move, error) {
	if !step.GetDrains() && len(step.GetMoves()) == 0 {
		return nil, nil
	}
	m := &Move{
		Domain: domain, Moves: transaction.MovesOf(step), Boundary: transaction.BoundaryOf(step), Drains: step.GetDrains(),
	}
	if d, ok := state.Domain(domain); ok {
		m.Running = d.Running
	}
	m.Base, _ = state.Schedule(domain)
	var err error
	m.Target, err = transaction.Target(step)
	return m, err
}
