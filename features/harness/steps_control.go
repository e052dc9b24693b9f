package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
)

// controlSteps are the statements about nodes, which name them by their role.
func (s *Scene) controlSteps(sc *godog.ScenarioContext) {
	// A node that does not exist is spoken of by its name.
	named := func(ctx context.Context, name string) (string, error) {
		if strings.HasPrefix(name, "node-") {
			return name, nil
		}
		n, err := s.node(ctx, name)
		if err != nil {
			return "", err
		}
		s.remember("noted", n)
		return n.Name(), nil
	}
	for verb, statement := range map[string]string{ //plexus:orderfree the expressions do not overlap
		"drains": "DRAIN", "cordons": "CORDON", "uncordons": "UNCORDON", "drops": "DROP",
	} {
		s.define(sc, `^the operator `+verb+` `+nodePattern+`$`, func(ctx context.Context, name string) error {
			node, err := named(ctx, name)
			if err != nil {
				return err
			}
			return s.execute(ctx, operator, fmt.Sprintf("%s NODE `%s`", statement, node))
		})
	}
	s.define(sc, `^the operator relocates ([A-Z]+ \w+) onto `+nodePattern+`$`, func(ctx context.Context, what, name string) error {
		node, err := named(ctx, name)
		if err != nil {
			return err
		}
		return s.execute(ctx, operator, fmt.Sprintf("RELOCATE %s ONTO NODE `%s` IGNORE PREFERENCES", what, node))
	})
	// Where a scenario depends on who does what, wherever it was placed.
	s.define(sc, `^([A-Z]+) (\w+) runs on `+nodePattern+`$`, func(ctx context.Context, kind, what, name string) error {
		node, err := named(ctx, name)
		if err != nil {
			return err
		}
		v, err := s.latest(ctx)
		if err != nil {
			return err
		}
		if owner, _ := v.owner(s.domain(), strings.ToLower(kind), what); owner == node {
			return nil
		}
		return s.mustExecute(ctx, fmt.Sprintf("RELOCATE %s %s ONTO NODE `%s` IGNORE PREFERENCES", kind, what, node))
	})
	s.define(sc, `^the operator creates (\d+) schemas$`, func(ctx context.Context, n int) error {
		for i := range n {
			if err := s.mustExecute(ctx, fmt.Sprintf("CREATE SCHEMA s%d (x I64)", i+1)); err != nil {
				return err
			}
		}
		return nil
	})
}
