package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
)

func (s *Scene) stateSteps(sc *godog.ScenarioContext) {
	const kind = `(DOMAIN|INGESTOR|JUNCTION|EMITTER|RELAY|CODEC|ENDPOINT)`
	describe := func(ctx context.Context, kind, name string) (Reply, error) {
		session, err := s.session(ctx, operator)
		if err != nil {
			return Reply{}, err
		}
		return session.session.Execute(ctx, strings.TrimSpace("DESCRIBE "+kind+" "+name))
	}
	s.define(sc, `^DESCRIBE `+kind+` ?(\w*) has (.+) = (.*)$`, func(ctx context.Context, kind, name, path, want string) error {
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			reply, err := describe(ctx, kind, name)
			if err != nil {
				return observation{}, err
			}
			if !reply.Completed() {
				return observation{reply.Refusal, false}, nil
			}
			value, found := lookup(reply.Document, path)
			if !found {
				return observation{fmt.Sprintf("no %s in:\n%s", path, reply.Text), false}, nil
			}
			return observation{plain(value), matches(want, plain(value))}, nil
		})
	})
	s.define(sc, `^DESCRIBE `+kind+` ?(\w*) shows "([^"]*)"$`, func(ctx context.Context, kind, name, text string) error {
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			reply, err := describe(ctx, kind, name)
			return observation{reply.Text + reply.Refusal, strings.Contains(reply.Text, text)}, err
		})
	})
}
