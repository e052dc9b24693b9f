package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

const (
	nodePattern     = `(node-\d+|the leader|the owner of \w+ \w+)`
	durationPattern = `(\d+(?:ms|s|m|h))`
)

func (s *Scene) clusterSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^a cluster of (\d+) nodes?$`, func(ctx context.Context, nodes int) error {
		return s.stage.StartCluster(ctx, nodes, nil)
	})
	s.define(sc, `^a cluster of (\d+) nodes? with:$`, func(ctx context.Context, nodes int, t *godog.Table) error {
		var settings Settings
		for _, row := range t.Rows {
			if len(row.Cells) != 2 {
				return errors.New("the table of settings has two columns: flag and value")
			}
			settings = append(settings, Setting{Name: row.Cells[0].Value, Value: row.Cells[1].Value})
		}
		return s.stage.StartCluster(ctx, nodes, settings)
	})
	onNode := func(expression string, act func(ctx context.Context, n Node) error) {
		s.define(sc, expression, func(ctx context.Context, name string) error {
			node, err := s.node(name)
			if err != nil {
				return err
			}
			return act(ctx, node)
		})
	}
	onNode(`^`+nodePattern+` is killed$`, func(ctx context.Context, n Node) error { return n.Kill(ctx) })
	onNode(`^`+nodePattern+` is frozen$`, func(ctx context.Context, n Node) error { return n.Freeze(ctx) })
	onNode(`^`+nodePattern+` thaws$`, func(ctx context.Context, n Node) error { return n.Thaw(ctx) })
	onNode(`^`+nodePattern+` restarts$`, s.restart)
	onNode(`^a half-written record is left at the end of the log of `+nodePattern+`$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, TornLog) })
	onNode(`^one bit in the middle of the log of `+nodePattern+` is flipped$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, FlippedLog) })
	onNode(`^the data directory of `+nodePattern+` is of a later version$`,
		func(ctx context.Context, n Node) error { return n.DamageStorage(ctx, LaterVersion) })
	onNode(`^`+nodePattern+` stops gracefully$`, func(ctx context.Context, n Node) error {
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
		node, err := s.node(name)
		if err != nil {
			return err
		}
		status, err := node.Stop(ctx)
		if err == nil && status != want {
			err = fmt.Errorf("it exited with status %d", status)
		}
		return err
	})
	s.machineSteps(sc)
	s.define(sc, `^all nodes are killed and restarted$`, func(ctx context.Context) error {
		for _, node := range s.stage.Nodes() {
			if err := node.Kill(ctx); err != nil {
				return err
			}
		}
		for _, node := range s.stage.Nodes() {
			if err := s.restart(ctx, node); err != nil {
				return err
			}
		}
		return nil
	})
	s.define(sc, `^`+durationPattern+` passes$`, func(ctx context.Context, text string) error {
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		if limit := s.stage.Limits().PassMax; d > limit {
			return fmt.Errorf("this world lets at most %s pass in one step", limit)
		}
		return primitives.Sleep(ctx, s.stage.World(), d)
	})
}

// machineSteps hurt the machines of nodes, in worlds that can.
func (s *Scene) machineSteps(sc *godog.ScenarioContext) {
	on := func(expression string, act func(m Machines, n Node, by time.Duration) error) {
		hurt := func(name, text string) error {
			machines, ok := s.stage.(Machines)
			if !ok {
				return errors.New("this world cannot hurt machines")
			}
			node, err := s.node(name)
			if err != nil {
				return err
			}
			by, err := optionalDuration(text)
			if err != nil {
				return err
			}
			return act(machines, node, by)
		}
		if strings.Contains(expression, durationPattern) {
			s.define(sc, expression, func(_ context.Context, name, by string) error { return hurt(name, by) })
			return
		}
		s.define(sc, expression, func(_ context.Context, name string) error { return hurt(name, "") })
	}
	on(`^`+nodePattern+` loses power$`, func(m Machines, n Node, _ time.Duration) error { return m.LosePower(n) })
	on(`^the disk of `+nodePattern+` is full$`, func(m Machines, n Node, _ time.Duration) error { return m.FillDisk(n, true) })
	on(`^the disk of `+nodePattern+` has room$`, func(m Machines, n Node, _ time.Duration) error { return m.FillDisk(n, false) })
	on(`^the disk of `+nodePattern+` fails its next sync$`, func(m Machines, n Node, _ time.Duration) error { return m.FailSync(n) })
	on(`^the disk of `+nodePattern+` is slow by `+durationPattern+`$`, Machines.SlowDisk)
	on(`^wall time of `+nodePattern+` jumps ahead by `+durationPattern+`$`, Machines.JumpClock)
	on(`^wall time of `+nodePattern+` jumps back by `+durationPattern+`$`, func(m Machines, n Node, by time.Duration) error { return m.JumpClock(n, -by) })
}

// restart starts the node again and opens every session anew: the old ones ended
// with the process.
func (s *Scene) restart(ctx context.Context, n Node) error {
	if n.Running() {
		if _, err := n.Stop(ctx); err != nil {
			return err
		}
	}
	if err := n.Restart(ctx); err != nil {
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
