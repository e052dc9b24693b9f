package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
)

const destinationPattern = `(nats stream|nats subject|redis channel|http path) "([^"]*)"`

func destination(noun, name string) Destination {
	kind, noun, _ := strings.Cut(noun, " ")
	return Destination{Kind: kind, Noun: noun, Name: name}
}

func (s *Scene) systemSteps(sc *godog.ScenarioContext) {
	on := func(ctx context.Context, noun, name string) (System, Destination, error) {
		d := destination(noun, name)
		system, err := s.system(ctx, d.Kind)
		return system, d, err
	}
	s.define(sc, `^`+destinationPattern+` exists$`, func(ctx context.Context, noun, name string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		return system.Create(ctx, d, nil)
	})
	s.define(sc, `^`+destinationPattern+` exists with:$`, func(ctx context.Context, noun, name string, t *godog.Table) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		options := map[string]string{}
		for _, row := range t.Rows {
			if len(row.Cells) != 2 {
				return errors.New("the table of options has two columns")
			}
			options[row.Cells[0].Value] = row.Cells[1].Value
		}
		return system.Create(ctx, d, options)
	})
	produce := func(ctx context.Context, noun, name string, records []Record) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		tallyOf(s.produced, d).add(records)
		if s.began == 0 {
			s.began = s.stage.World().Clock().Now()
		}
		return system.Produce(ctx, d, records)
	}
	s.define(sc, `^these records are produced to `+destinationPattern+`:$`, func(ctx context.Context, noun, name string, t *godog.Table) error {
		records, err := tableRecords(t)
		if err != nil {
			return err
		}
		return produce(ctx, noun, name, records)
	})
	s.define(sc, `^(\d+) records are produced to `+destinationPattern+`$`, func(ctx context.Context, n int, noun, name string) error {
		return produce(ctx, noun, name, generated(tallyOf(s.produced, destination(noun, name)).records+1, n))
	})
	s.define(sc, `^`+destinationPattern+` is acknowledged through record (\d+)`+within+`$`, func(ctx context.Context, noun, name string, n int, bound string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		wait, err := optionalDuration(bound)
		if err != nil {
			return err
		}
		return s.eventually(ctx, wait, func(ctx context.Context) (observation, error) {
			through, err := system.AcknowledgedThrough(ctx, d)
			return observation{fmt.Sprintf("acknowledged through %d", through), through >= uint64(n)}, err
		})
	})
	s.define(sc, `^`+destinationPattern+` is not acknowledged beyond record (\d+)$`, func(ctx context.Context, noun, name string, n int) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		return s.steadily(ctx, time.Second, func(ctx context.Context) (observation, error) {
			through, err := system.AcknowledgedThrough(ctx, d)
			return observation{fmt.Sprintf("acknowledged through %d", through), through <= uint64(n)}, err
		})
	})

	received := func(expression string, inOrder, atLeast bool) {
		s.define(sc, `^`+destinationPattern+` receives `+expression+`:$`, func(ctx context.Context, noun, name string, t *godog.Table) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
				records, err := system.Received(ctx, d, 0)
				if err != nil {
					return observation{}, err
				}
				difference, err := compare(t, payloads(records), inOrder, atLeast)
				return observation{difference, difference == ""}, err
			})
		})
	}
	received("exactly", false, false)
	received("at least", false, true)
	received("in order", true, false)
	s.define(sc, `^`+destinationPattern+` receives each of (\d+) records at least once(?: within `+durationPattern+`)?$`,
		func(ctx context.Context, noun, name string, n int, within string) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			bound, err := optionalDuration(within)
			if err != nil {
				return err
			}
			return s.eventually(ctx, bound, func(ctx context.Context) (observation, error) {
				return s.countIdentities(ctx, system, d, n)
			})
		})
	s.define(sc, `^`+destinationPattern+` receives at least (\d+) records(?: within `+durationPattern+`)?$`,
		func(ctx context.Context, noun, name string, n int, within string) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			bound, err := optionalDuration(within)
			if err != nil {
				return err
			}
			return s.eventually(ctx, bound, func(ctx context.Context) (observation, error) {
				t, err := s.tally(ctx, system, d)
				return observation{fmt.Sprintf("%d records", t.records), t.records >= n}, err
			})
		})
	s.define(sc, `^`+destinationPattern+` holds consecutive sequences with at most (\d+) repeated$`,
		func(ctx context.Context, noun, name string, most int) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			records, err := system.Received(ctx, d, 0)
			if err != nil {
				return err
			}
			t := newTally()
			if t.add(records); t.repeats() > most {
				return fmt.Errorf("%d are repeated", t.repeats())
			}
			return consecutive(payloads(records))
		})
	s.define(sc, `^the counts of `+destinationPattern+` are printed$`, func(ctx context.Context, noun, name string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		t, err := s.tally(ctx, system, d)
		if err != nil {
			return err
		}
		fmt.Println(s.figures(d, t))
		return nil
	})
	s.define(sc, `^`+destinationPattern+` receives record (\d+) times: (.+)$`, func(ctx context.Context, noun, name string, n int, id string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			t, err := s.tally(ctx, system, d)
			return observation{fmt.Sprintf("%d times", t.times[id]), t.times[id] == n}, err
		})
	})
	s.define(sc, `^`+destinationPattern+` receives nothing for `+durationPattern+`$`, func(ctx context.Context, noun, name, text string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		during, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		return s.steadily(ctx, during, func(ctx context.Context) (observation, error) {
			records, err := system.Received(ctx, d, 0)
			return observation{strings.Join(payloads(records), "\n"), len(records) == 0}, err
		})
	})
	s.define(sc, `^`+destinationPattern+` receives nothing more for `+durationPattern+`$`, func(ctx context.Context, noun, name, text string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		during, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		before, err := system.Received(ctx, d, 0)
		if err != nil {
			return err
		}
		return s.steadily(ctx, during, func(ctx context.Context) (observation, error) {
			records, err := system.Received(ctx, d, 0)
			more := payloads(records)[min(len(before), len(records)):]
			return observation{strings.Join(more, "\n"), len(more) == 0}, err
		})
	})
	s.define(sc, `^a record of `+destinationPattern+` has the header "([^"]*)"$`, func(ctx context.Context, noun, name, header string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			records, err := system.Received(ctx, d, 0)
			var seen []string
			for _, record := range records {
				seen = append(seen, record.Headers...)
			}
			return observation{strings.Join(seen, "\n"), slices.Contains(seen, header)}, err
		})
	})
	s.faultSteps(sc, on)
}

// faultSteps are the verbs that hurt one destination.
func (s *Scene) faultSteps(sc *godog.ScenarioContext, on func(context.Context, string, string) (System, Destination, error)) {
	for _, verb := range []struct {
		expression string
		damage     Damage
	}{
		{"starts refusing", Refuse},
		{"hangs", Hang},
		{"loses its next answer", LoseAnswer},
		{"breaks its connections", Cut},
	} {
		s.define(sc, `^`+destinationPattern+` `+verb.expression+`$`, func(ctx context.Context, noun, name string) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			return system.Break(ctx, d, verb.damage, "")
		})
	}
	for _, verb := range []struct {
		expression string
		damage     Damage
	}{
		{"refuses", RefuseSome},
		{"rejects", RejectSome},
	} {
		s.define(sc, `^`+destinationPattern+` `+verb.expression+` records containing "([^"]*)"$`, func(ctx context.Context, noun, name, text string) error {
			system, d, err := on(ctx, noun, name)
			if err != nil {
				return err
			}
			return system.Break(ctx, d, verb.damage, text)
		})
	}
	s.define(sc, `^`+destinationPattern+` recovers$`, func(ctx context.Context, noun, name string) error {
		system, d, err := on(ctx, noun, name)
		if err != nil {
			return err
		}
		return system.Heal(ctx, d)
	})
}

// tally reads what arrived at a destination since the last look.
func (s *Scene) tally(ctx context.Context, system System, d Destination) (*tally, error) {
	t := tallyOf(s.arrived, d)
	records, err := system.Received(ctx, d, t.records)
	t.add(records)
	return t, err
}

// figures are what a person asks of a destination: how much of what was produced
// arrived, how often twice, and how long after the first record was produced.
func (s *Scene) figures(d Destination, t *tally) string {
	produced := 0
	for name, other := range s.produced { //plexus:orderfree adds up
		if name != d.String() {
			produced += other.records
		}
	}
	took := s.stage.World().Clock().Now().Sub(s.began)
	return fmt.Sprintf("%s: %d of %d records, %d missing, %d duplicates, %.1f seconds after the first was produced",
		d, len(t.distinct), produced, produced-len(t.distinct), t.repeats(), took.Seconds())
}

func tallyOf(tallies map[string]*tally, d Destination) *tally {
	t := tallies[d.String()]
	if t == nil {
		t = newTally()
		tallies[d.String()] = t
	}
	return t
}

// countIdentities holds when exactly n different records arrived, all of which
// this scenario produced.
func (s *Scene) countIdentities(ctx context.Context, system System, d Destination, n int) (observation, error) {
	t, err := s.tally(ctx, system, d)
	if err != nil {
		return observation{}, err
	}
	for ; t.checked < len(t.distinct); t.checked++ {
		if id := t.distinct[t.checked]; !s.producedElsewhere(d, id) {
			return observation{}, fmt.Errorf("%w: %s received %q, which nobody produced", errHopeless, d, id)
		}
	}
	seen := fmt.Sprintf("%d of %d records, %d repeated", len(t.distinct), n, t.repeats())
	if len(t.distinct) > n {
		return observation{}, fmt.Errorf("%w: %s", errHopeless, seen)
	}
	return observation{seen, len(t.distinct) == n}, nil
}

// producedElsewhere reports whether a record may have arrived: somebody produced it,
// or the scenario produced nothing at all.
func (s *Scene) producedElsewhere(d Destination, id string) bool {
	nothing := true
	for name, produced := range s.produced { //plexus:orderfree looks for one
		if name == d.String() || produced.records == 0 {
			continue
		}
		if produced.times[id] > 0 {
			return true
		}
		nothing = false
	}
	return nothing
}

func payloads(records []Record) []string {
	texts := make([]string, len(records))
	for i, record := range records {
		texts[i] = record.Payload
	}
	return texts
}

func optionalDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}
