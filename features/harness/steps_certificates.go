package harness

import (
	"context"
	"errors"
	"time"

	"github.com/cucumber/godog"
)

// certificateSteps issue what nodes prove themselves with, in scenarios tagged @tls.
func (s *Scene) certificateSteps(sc *godog.ScenarioContext) {
	certify := func(node string, c Certificate) error {
		stage, ok := s.stage.(Certificates)
		if !ok {
			return errors.New("this world has no certificates")
		}
		return stage.Certify(node, c)
	}
	s.define(sc, `^the certificate of `+nodePattern+` is issued anew$`, func(ctx context.Context, name string) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		s.remember("certified", node)
		return certify(node.Name(), Certificate{})
	})
	s.define(sc, `^the certificate of `+nodePattern+` is issued anew and ends in `+durationPattern+`$`, func(ctx context.Context, name, text string) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		s.remember("certified", node)
		ends, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		return certify(node.Name(), Certificate{Ends: ends})
	})
	for expression, c := range map[string]Certificate{ //plexus:orderfree the expressions do not overlap
		"no certificate":                     {None: true},
		"a certificate of another node":      {Of: "node-9"},
		"a certificate of another authority": {Foreign: true},
		"a certificate that has ended":       {Ends: -time.Minute},
	} {
		s.define(sc, `^(node-\d+) has `+expression+`$`, func(_ context.Context, name string) error { return certify(name, c) })
	}
}
