package harness

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/cucumber/godog"
)

const metricPattern = `metric (\w+)(?:\{([^}]*)\})? on ` + nodePattern

func (s *Scene) observationSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^`+metricPattern+` is (\d+)$`, func(ctx context.Context, name, labels, node string, want int) error {
		return s.metric(ctx, name, labels, node, func(v float64) bool { return v == float64(want) })
	})
	s.define(sc, `^`+metricPattern+` is at least (\d+)$`, func(ctx context.Context, name, labels, node string, want int) error {
		return s.metric(ctx, name, labels, node, func(v float64) bool { return v >= float64(want) })
	})
	s.define(sc, `^`+metricPattern+` is noted$`, func(ctx context.Context, name, labels, node string) error {
		v, err := s.readMetric(ctx, name, labels, node)
		s.baselines[name+labels+node] = v
		return err
	})
	s.define(sc, `^`+metricPattern+` rises by (\d+)$`, func(ctx context.Context, name, labels, node string, by int) error {
		return s.metric(ctx, name, labels, node, func(v float64) bool { return v == s.baselines[name+labels+node]+float64(by) })
	})
	s.define(sc, `^`+metricPattern+` rises by at least (\d+)$`, func(ctx context.Context, name, labels, node string, by int) error {
		return s.metric(ctx, name, labels, node, func(v float64) bool { return v >= s.baselines[name+labels+node]+float64(by) })
	})
	s.define(sc, `^(/\S*) on `+nodePattern+` answers (\d+)$`, func(ctx context.Context, path, node string, status int) error {
		n, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			r, err := Exchange(ctx, s.stage.World(), n.ObservabilityAddress(), Request{Method: "GET", Host: n.ObservabilityAddress(), Path: path})
			if err != nil {
				return observation{}, err
			}
			return observation{fmt.Sprintf("%d: %s", r.Status, clip(r.Body)), r.Status == status}, nil
		})
	})
	s.define(sc, `^the log of `+nodePattern+` contains "([^"]*)"$`, func(ctx context.Context, node, text string) error {
		n, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(context.Context) (observation, error) {
			logs := n.Logs()
			return observation{tail(logs, 20), strings.Contains(logs, text)}, nil
		})
	})
	s.define(sc, `^no log contains "([^"]*)"$`, func(_ context.Context, text string) error {
		for _, n := range s.stage.Nodes() {
			for _, line := range strings.Split(n.Logs(), "\n") {
				if strings.Contains(line, text) {
					return fmt.Errorf("%s logged: %s", n.Name(), line)
				}
			}
		}
		return nil
	})
	s.define(sc, `^at most (\d+) log lines of `+nodePattern+` contain "([^"]*)"$`, func(ctx context.Context, most int, node, text string) error {
		n, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		if count := strings.Count(n.Logs(), text); count > most {
			return fmt.Errorf("%d lines do", count)
		}
		return nil
	})
}

func (s *Scene) metric(ctx context.Context, name, labels, node string, holds func(float64) bool) error {
	return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
		v, err := s.readMetric(ctx, name, labels, node)
		return observation{fmt.Sprint(v), err == nil && holds(v)}, err
	})
}

var labelPattern = regexp.MustCompile(`\w+="[^"]*"`)

func (s *Scene) readMetric(ctx context.Context, name, labels, node string) (float64, error) {
	n, err := s.node(ctx, node)
	if err != nil {
		return 0, err
	}
	metrics, err := n.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	v, _ := metrics.Sum(name, labelPattern.FindAllString(labels, -1))
	return v, nil
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
