package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

const (
	durationPattern = `(\d+(?:ms|s|m|h))`
	within          = `(?: within ` + durationPattern + `)?`
)

func (s *Scene) clusterSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^a cluster of (\d+) nodes?$`, func(ctx context.Context, nodes int) error {
		return s.stage.StartCluster(ctx, nodes, nil)
	})
	s.define(sc, `^a cluster of (\d+) nodes? with:$`, func(ctx context.Context, nodes int, t *godog.Table) error {
		settings, err := settingsOf(t)
		if err != nil {
			return err
		}
		return s.stage.StartCluster(ctx, nodes, settings)
	})
	s.define(sc, `^all nodes agree on one leader`+within+`$`, s.agree)
	s.define(sc, `^the leader (is|is not) `+nodePattern+within+`$`, func(ctx context.Context, verb, name, bound string) error {
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			leader := find(s.alive(), v.Leader)
			return "the leader is " + v.Leader, leader != nil && (leader == n) == (verb == "is")
		})
	})
	s.define(sc, `^the cluster has (\d+) voters?`+within+`$`, func(ctx context.Context, want int, bound string) error {
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			voters := 0
			for _, m := range v.Members {
				if m.Role == "voter" {
					voters++
				}
			}
			return fmt.Sprintf("it has %d: %+v", voters, v.Members), voters == want
		})
	})
	s.define(sc, `^`+nodePattern+` is no member`+within+`$`, func(ctx context.Context, name, bound string) error {
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			return fmt.Sprintf("the members are %+v", v.Members), v.member(n.Name()) == nil
		})
	})
	s.define(sc, `^`+nodePattern+` is (live|unavailable)`+within+`$`, func(ctx context.Context, name, what, bound string) error {
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			m := v.member(n.Name())
			return fmt.Sprintf("the members are %+v", v.Members), m != nil && m.Availability == what
		})
	})
	s.define(sc, `^`+nodePattern+` is (cordoned|not cordoned)`+within+`$`, func(ctx context.Context, name, what, bound string) error {
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		return s.seen(ctx, bound, func(v *View) (string, bool) {
			m := v.member(n.Name())
			return fmt.Sprintf("the members are %+v", v.Members), m != nil && m.Cordoned == (what == "cordoned")
		})
	})
	s.joinSteps(sc)
	s.certificateSteps(sc)
	s.processSteps(sc)
	s.controlSteps(sc)
	s.machineSteps(sc)
	s.linkSteps(sc)
	s.ownerSteps(sc)
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

func settingsOf(t *godog.Table) (Settings, error) {
	var settings Settings
	for _, row := range t.Rows {
		if len(row.Cells) != 2 {
			return nil, errors.New("the table of settings has two columns: flag and value")
		}
		settings = append(settings, Setting{Name: row.Cells[0].Value, Value: row.Cells[1].Value})
	}
	return settings, nil
}

// agree waits until every node that can answer names the same leader, one of them.
func (s *Scene) agree(ctx context.Context, bound string) error {
	d, err := optionalDuration(bound)
	if err != nil {
		return err
	}
	return s.eventually(ctx, d, func(ctx context.Context) (observation, error) {
		var named []string
		agreed := true
		alive := s.alive()
		for _, n := range alive {
			v, err := s.view(ctx, n)
			if err != nil {
				return observation{}, err
			}
			named = append(named, n.Name()+" names "+cmp.Or(v.Leader, "nobody"))
			leader := find(alive, v.Leader)
			agreed = agreed && leader != nil && strings.HasSuffix(named[0], " "+v.Leader)
		}
		return observation{strings.Join(named, ", "), agreed && len(alive) > 0}, nil
	})
}

// joinSteps add nodes.
func (s *Scene) joinSteps(sc *godog.ScenarioContext) {
	join := func(ctx context.Context, name string, t *godog.Table, wait bool) error {
		var settings Settings
		if t != nil {
			var err error
			if settings, err = settingsOf(t); err != nil {
				return err
			}
		}
		n, err := s.stage.Join(ctx, name, settings)
		if err != nil {
			return err
		}
		s.remember("joining", n)
		if wait {
			return n.Ready(ctx)
		}
		return nil
	}
	s.define(sc, `^(node-\d+) joins$`, func(ctx context.Context, name string) error { return join(ctx, name, nil, true) })
	s.define(sc, `^(node-\d+) joins with:$`, func(ctx context.Context, name string, t *godog.Table) error { return join(ctx, name, t, true) })
	s.define(sc, `^(node-\d+) tries to join$`, func(ctx context.Context, name string) error { return join(ctx, name, nil, false) })
	s.define(sc, `^(node-\d+) tries to join with:$`, func(ctx context.Context, name string, t *godog.Table) error { return join(ctx, name, t, false) })
}

// machineSteps hurt the machines of nodes, in worlds that can.
func (s *Scene) machineSteps(sc *godog.ScenarioContext) {
	on := func(expression string, act func(m Machines, n Node, by time.Duration) error) {
		hurt := func(ctx context.Context, name, text string) error {
			machines, ok := s.stage.(Machines)
			if !ok {
				return errors.New("this world cannot hurt machines")
			}
			node, err := s.node(ctx, name)
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
			s.define(sc, expression, func(ctx context.Context, name, by string) error { return hurt(ctx, name, by) })
			return
		}
		s.define(sc, expression, func(ctx context.Context, name string) error { return hurt(ctx, name, "") })
	}
	on(`^`+nodePattern+` loses power$`, func(m Machines, n Node, _ time.Duration) error {
		s.remember("killed", n)
		return m.LosePower(n)
	})
	s.define(sc, `^all nodes lose power and restart$`, func(ctx context.Context) error {
		machines, ok := s.stage.(Machines)
		if !ok {
			return errors.New("this world cannot hurt machines")
		}
		return s.all(ctx, func(_ context.Context, n Node) error { return machines.LosePower(n) })
	})
	on(`^the disk of `+nodePattern+` is full$`, func(m Machines, n Node, _ time.Duration) error { return m.FillDisk(n, true) })
	on(`^the disk of `+nodePattern+` has room$`, func(m Machines, n Node, _ time.Duration) error { return m.FillDisk(n, false) })
	on(`^the disk of `+nodePattern+` fails its next sync$`, func(m Machines, n Node, _ time.Duration) error { return m.FailSync(n) })
	on(`^the disk of `+nodePattern+` is slow by `+durationPattern+`$`, Machines.SlowDisk)
	on(`^wall time of `+nodePattern+` jumps ahead by `+durationPattern+`$`, Machines.JumpClock)
	on(`^wall time of `+nodePattern+` jumps back by `+durationPattern+`$`, func(m Machines, n Node, by time.Duration) error { return m.JumpClock(n, -by) })
}
