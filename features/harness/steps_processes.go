package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

// processSteps stop, kill, freeze and start nodes.
func (s *Scene) processSteps(sc *godog.ScenarioContext) {
	onNode := func(expression string, act func(ctx context.Context, n Node) error) {
		s.define(sc, expression, func(ctx context.Context, name string) error {
			node, err := s.node(ctx, name)
			if err != nil {
				return err
			}
			return act(ctx, node)
		})
	}
	note := func(_ context.Context, n Node) error {
		s.remember("noted", n)
		return nil
	}
	onNode(`^`+nodePattern+` is killed$`, func(ctx context.Context, n Node) error {
		s.remember("killed", n)
		return n.Kill(ctx)
	})
	onNode(`^`+nodePattern+` is frozen$`, func(ctx context.Context, n Node) error {
		s.remember("frozen", n)
		return n.Freeze(ctx)
	})
	onNode(`^the disk of `+nodePattern+` is copied$`, func(ctx context.Context, n Node) error { return n.CopyStorage(ctx) })
	onNode(`^the copy of the disk of `+nodePattern+` is put back$`, func(ctx context.Context, n Node) error { return n.PutStorageBack(ctx) })
	onNode(`^(the leader|a follower|another follower|node-\d+) is noted$`, note)
	onNode(`^`+nodePattern+` is noted as a node$`, note)
	onNode(`^`+nodePattern+` thaws$`, func(ctx context.Context, n Node) error { return n.Thaw(ctx) })
	onNode(`^`+nodePattern+` restarts$`, s.restart)
	onNode(`^`+nodePattern+` starts$`, func(ctx context.Context, n Node) error { return n.Start(ctx) })
	onNode(`^`+nodePattern+` is ready$`, func(ctx context.Context, n Node) error { return n.Ready(ctx) })
	onNode(`^`+nodePattern+` loses its disk$`, func(ctx context.Context, n Node) error {
		s.remember("killed", n)
		if n.Running() {
			if err := n.Kill(ctx); err != nil {
				return err
			}
		}
		return n.Wipe(ctx)
	})
	onNode(`^a half-written record is left at the end of the log of `+nodePattern+`$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, TornLog) })
	onNode(`^one bit in the middle of the log of `+nodePattern+` is flipped$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, FlippedLog) })
	onNode(`^the data directory of `+nodePattern+` is of a later version$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, LaterVersion) })
	onNode(`^`+nodePattern+` stops gracefully$`, func(ctx context.Context, n Node) error {
		s.remember("stopped", n)
		status, err := n.Stop(ctx)
		if err != nil {
			return err
		}
		if status != 0 {
			return fmt.Errorf("%s exited with status %d", n.Name(), status)
		}
		return nil
	})
	s.define(sc, `^`+nodePattern+` exits with status (\d+) when stopped$`, func(ctx context.Context, name string, want int) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		status, err := node.Stop(ctx)
		if err == nil && status != want {
			err = fmt.Errorf("it exited with status %d", status)
		}
		return err
	})
	s.define(sc, `^`+nodePattern+` exits with status (\d+) within `+durationPattern+`$`,
		func(ctx context.Context, name string, want int, text string) error {
			node, err := s.node(ctx, name)
			if err != nil {
				return err
			}
			bound, err := time.ParseDuration(text)
			if err != nil {
				return err
			}
			return s.eventually(ctx, bound, func(context.Context) (observation, error) {
				status, ended := node.Exited()
				if !ended {
					return observation{"it still runs", false}, nil
				}
				return observation{fmt.Sprintf("it exited with status %d", status), status == want}, nil
			})
		})
	s.define(sc, `^`+nodePattern+` is killed and restarted (\d+) times every `+durationPattern+`$`,
		func(ctx context.Context, name string, times int, text string) error {
			node, err := s.node(ctx, name)
			if err != nil {
				return err
			}
			pause, err := time.ParseDuration(text)
			if err != nil {
				return err
			}
			for range times {
				if err := node.Kill(ctx); err != nil {
					return err
				}
				if err := s.startAnew(ctx, node); err != nil {
					return err
				}
				if err := primitives.Sleep(ctx, s.stage.World(), pause); err != nil {
					return err
				}
			}
			return node.Ready(ctx)
		})
	s.define(sc, `^every node is ready$`, func(ctx context.Context) error {
		for _, n := range s.alive() {
			if err := n.Ready(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	s.define(sc, `^all nodes are killed$`, func(ctx context.Context) error {
		for _, n := range s.stage.Nodes() {
			if err := n.Kill(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	s.define(sc, `^all nodes are killed and restarted$`, func(ctx context.Context) error { return s.all(ctx, kill) })
	s.define(sc, `^every node restarts in turn$`, func(ctx context.Context) error {
		for _, n := range s.stage.Nodes() {
			if err := s.restart(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func kill(ctx context.Context, n Node) error { return n.Kill(ctx) }

// all ends every node that runs, then starts all: one alone may not become ready.
func (s *Scene) all(ctx context.Context, end func(context.Context, Node) error) error {
	for _, n := range s.stage.Nodes() {
		if !n.Running() {
			continue
		}
		if err := end(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range s.stage.Nodes() {
		if err := s.startAnew(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range s.stage.Nodes() {
		if err := n.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// restart starts the node again and waits until it serves.
func (s *Scene) restart(ctx context.Context, n Node) error {
	if n.Running() {
		if _, err := n.Stop(ctx); err != nil {
			return err
		}
	}
	if err := s.startAnew(ctx, n); err != nil {
		return err
	}
	return n.Ready(ctx)
}

// startAnew starts the node, and gives up every session on it: the old ones ended
// with the process.
func (s *Scene) startAnew(ctx context.Context, n Node) error {
	if err := n.Start(ctx); err != nil {
		return err
	}
	for _, session := range s.sessions {
		if session.node != n {
			continue
		}
		if err := session.end(ctx); err != nil {
			return err
		}
	}
	return nil
}
