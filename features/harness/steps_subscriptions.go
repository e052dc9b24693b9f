package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
)

func (s *Scene) subscriptionSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^`+sessionPattern+` subscribes (\w+) to (\w+)( dropping)?(?: where (.+))?$`,
		func(ctx context.Context, who, name, relay, dropping, where string) error {
			statement := fmt.Sprintf("CREATE SUBSCRIPTION %s TO %s%s", name, relay, strings.ToUpper(dropping))
			if where != "" {
				statement += " WHERE " + where
			}
			session, err := s.session(ctx, who)
			if err != nil {
				return err
			}
			subscription, err := session.session.Subscribe(ctx, statement)
			if err != nil {
				s.answer(Reply{Disposition: "FAILED", Refusal: err.Error()})
				return nil
			}
			session.subscriptions[name] = subscription
			s.answer(Reply{Disposition: "COMPLETED"})
			return nil
		})
	s.define(sc, `^`+sessionPattern+` ends subscription (\w+)$`, func(ctx context.Context, who, name string) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		return subscription.Close(ctx)
	})
	sees := func(expression string, inOrder, atLeast bool) {
		s.define(sc, `^(\w+) sees `+expression+`:$`, func(ctx context.Context, name string, t *godog.Table) error {
			subscription, err := s.subscription(name)
			if err != nil {
				return err
			}
			return s.eventually(ctx, 0, func(context.Context) (observation, error) {
				difference, err := compare(t, subscription.Rows(), inOrder, atLeast)
				return observation{difference + ended(subscription), difference == ""}, err
			})
		})
	}
	sees("exactly", false, false)
	sees("in order", true, false)
	sees("at least", false, true)
	s.define(sc, `^(\w+) sees at least (\d+) rows$`, func(ctx context.Context, name string, n int) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(context.Context) (observation, error) {
			rows := len(subscription.Rows())
			return observation{fmt.Sprintf("%d rows%s", rows, ended(subscription)), rows >= n}, nil
		})
	})
	s.define(sc, `^(\w+) sees consecutive sequences$`, func(_ context.Context, name string) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		return consecutive(subscription.Rows())
	})
	s.define(sc, `^(\w+) sees nothing for `+durationPattern+`$`, func(ctx context.Context, name, text string) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		during, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		return s.steadily(ctx, during, func(context.Context) (observation, error) {
			rows := subscription.Rows()
			return observation{strings.Join(rows, "\n"), len(rows) == 0}, nil
		})
	})
	s.define(sc, `^(\w+) is told it lost rows$`, func(ctx context.Context, name string) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(context.Context) (observation, error) {
			return observation{fmt.Sprintf("%d lost", subscription.Lost()), subscription.Lost() > 0}, nil
		})
	})
	s.define(sc, `^(\w+) ends because (.+)$`, func(ctx context.Context, name, reason string) error {
		subscription, err := s.subscription(name)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(context.Context) (observation, error) {
			return observation{"ended: " + subscription.Ended(), subscription.Ended() == reason}, nil
		})
	})
}

func (s *Scene) subscription(name string) (Subscription, error) {
	for _, session := range s.sessions {
		if subscription, ok := session.subscriptions[name]; ok {
			return subscription, nil
		}
	}
	return nil, fmt.Errorf("no subscription %q", name)
}

func ended(subscription Subscription) string {
	if reason := subscription.Ended(); reason != "" {
		return "\nended: " + reason
	}
	return ""
}

// consecutive checks that the sequence fields are a run without a gap; the same
// one may come again after a restart.
func consecutive(rows []string) error {
	var numbers []uint64
	for _, row := range rows {
		var n uint64
		have, err := fields(row)
		if err != nil {
			return err
		}
		if _, err := fmt.Sscan(have["sequence"], &n); err != nil {
			return fmt.Errorf("row %s: %w", clip(row), err)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for i := 1; i < len(numbers); i++ {
		if numbers[i] > numbers[i-1]+1 {
			return fmt.Errorf("sequence %d follows %d", numbers[i], numbers[i-1])
		}
	}
	return nil
}
