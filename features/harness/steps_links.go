package harness

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

// linkSteps hurt the ways between nodes, in worlds that can.
func (s *Scene) linkSteps(sc *godog.ScenarioContext) {
	links := func() (Links, error) {
		l, ok := s.stage.(Links)
		if !ok {
			return nil, errors.New("this world cannot hurt links")
		}
		return l, nil
	}
	ends := func(ctx context.Context, a, b string) (Links, Node, Node, error) {
		l, err := links()
		if err != nil {
			return nil, nil, nil, err
		}
		from, err := s.node(ctx, a)
		if err != nil {
			return nil, nil, nil, err
		}
		to, err := s.node(ctx, b)
		return l, from, to, err
	}
	const way = `^the link from ` + nodePattern + ` to ` + nodePattern
	const between = `^the link between ` + nodePattern + ` and ` + nodePattern
	s.define(sc, way+` is cut$`, func(ctx context.Context, a, b string) error {
		l, from, to, err := ends(ctx, a, b)
		if err != nil {
			return err
		}
		return l.CutLink(from, to)
	})
	s.define(sc, between+` is cut$`, func(ctx context.Context, a, b string) error {
		l, from, to, err := ends(ctx, a, b)
		if err != nil {
			return err
		}
		return errors.Join(l.CutLink(from, to), l.CutLink(to, from))
	})
	s.define(sc, between+` is slow by `+durationPattern+`$`, func(ctx context.Context, a, b, text string) error {
		l, from, to, err := ends(ctx, a, b)
		if err != nil {
			return err
		}
		by, err := optionalDuration(text)
		if err != nil {
			return err
		}
		return errors.Join(l.SlowLink(from, to, by), l.SlowLink(to, from, by))
	})
	s.define(sc, `^the links of `+nodePattern+` are cut$`, func(ctx context.Context, name string) error {
		l, err := links()
		if err != nil {
			return err
		}
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		s.remember("lonely", n)
		s.lonely = n
		var errs []error
		for _, other := range s.stage.Nodes() {
			if other != n {
				errs = append(errs, l.CutLink(n, other), l.CutLink(other, n))
			}
		}
		return errors.Join(errs...)
	})
	s.define(sc, `^the links break every `+durationPattern+` for `+durationPattern+`$`, func(ctx context.Context, every, lasting string) error {
		l, err := links()
		if err != nil {
			return err
		}
		pause, err := time.ParseDuration(every)
		if err != nil {
			return err
		}
		during, err := time.ParseDuration(lasting)
		if err != nil {
			return err
		}
		return s.breakLinks(ctx, l, pause, during)
	})
	s.define(sc, `^the name of `+nodePattern+` (does not resolve|resolves again)$`, func(ctx context.Context, name, what string) error {
		l, err := links()
		if err != nil {
			return err
		}
		n, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		return l.HideName(n, what == "does not resolve")
	})
	s.define(sc, `^the links heal$`, func(context.Context) error { return s.healLinks() })
}

// breakMost is the most bytes a connection carries before it breaks.
const breakMost = 4000

// breakLinks breaks connections in the middle of anything.
func (s *Scene) breakLinks(ctx context.Context, l Links, every, during time.Duration) error {
	w := s.stage.World()
	draw := rand.New(rand.NewPCG(s.scenario.Seed, 1))
	nodes := s.stage.Nodes()
	for until := w.Clock().Now().Add(during); w.Clock().Now().Before(until); {
		from, to := nodes[draw.IntN(len(nodes))], nodes[draw.IntN(len(nodes))]
		if from != to {
			if err := l.BreakLink(from, to, 1+draw.IntN(breakMost)); err != nil {
				return err
			}
		}
		if err := primitives.Sleep(ctx, w, every); err != nil {
			return err
		}
	}
	return nil
}

// healLinks makes every way between nodes good.
func (s *Scene) healLinks() error {
	l, ok := s.stage.(Links)
	if !ok {
		return nil
	}
	s.lonely = nil
	var errs []error
	for _, from := range s.stage.Nodes() {
		for _, to := range s.stage.Nodes() {
			if from != to {
				errs = append(errs, l.HealLink(from, to))
			}
		}
	}
	return errors.Join(errs...)
}
