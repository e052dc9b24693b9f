package harness

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

// Scene is the state of one scenario: its stage, its sessions, what was produced
// and what was answered last.
type Scene struct {
	run      *Run
	scenario Scenario
	stage    Stage
	step     string // text of the running step

	sessions []*namedSession
	systems  map[string]System

	// last is the reply the result steps speak about; refusalOpen says that it was
	// a refusal no step has mentioned yet.
	last        Reply
	asked       request
	pending     map[string]*pending // by session
	refusalOpen bool
	response    *Response
	// declared are the entities that the operator's sessions created, in their order.
	declared []declaredEntity
	command  *CommandResult

	// produced remembers what this scenario gave to each destination, for steps
	// that count.
	produced map[string]*tally
	// began is when the first record was produced.
	began primitives.Instant
	// arrived is what the steps that count have read of each destination.
	arrived map[string]*tally
	// baselines are metric values from before the step that should raise them.
	baselines map[string]float64
	// roles are nodes that steps remember, and owners who executed an operator when
	// a step spoke of it last.
	roles  map[string]Node
	owners map[string]string
	// lonely is the node whose links are all cut.
	lonely Node
	// fixtures undo what a step left outside the stage.
	fixtures []func() error
}

type namedSession struct {
	name    string
	node    Node
	session Session
	// credentials are whose session it is.
	credentials Credentials
	// domain is what the session selected, for the one that follows it after a
	// restart of the node.
	domain        string
	subscriptions map[string]Subscription
}

// end gives the session up without a word.
func (n *namedSession) end(ctx context.Context) error {
	if n.session == nil {
		return nil
	}
	n.domain = n.session.Domain()
	var errs []error
	for _, name := range primitives.SortedKeys(n.subscriptions) {
		errs = append(errs, n.subscriptions[name].Close(ctx))
	}
	n.session.Drop()
	n.session = nil
	return errors.Join(errs...)
}

var errNoCluster = errors.New("the scenario has no cluster yet")

// operator is the session of steps that name none.
const operator = "the operator"

// define registers a step whose function takes a context, then what the
// expression captures, and returns an error. Its body runs on the stage (H1)
// with every token in text, doc string and table expanded.
func (s *Scene) define(sc *godog.ScenarioContext, expression string, f any) {
	s.register(sc, expression, f, true)
}

// result registers a step that speaks about the last reply.
func (s *Scene) result(sc *godog.ScenarioContext, expression string, f any) {
	s.register(sc, expression, f, false)
}

func (s *Scene) register(sc *godog.ScenarioContext, expression string, f any, needsSuccess bool) {
	body := reflect.ValueOf(f)
	wrapped := reflect.MakeFunc(body.Type(), func(args []reflect.Value) []reflect.Value {
		err := s.perform(body, args, needsSuccess)
		out := reflect.New(reflect.TypeFor[error]()).Elem()
		if err != nil {
			out.Set(reflect.ValueOf(err))
		}
		return []reflect.Value{out}
	})
	sc.Step(expression, wrapped.Interface())
}

func (s *Scene) perform(body reflect.Value, args []reflect.Value, needsSuccess bool) error {
	if needsSuccess && s.refusalOpen {
		return fmt.Errorf("the statement before was refused and no step expects it:\n%s", s.last.Refusal)
	}
	err := s.stage.Do(s.step, func(ctx context.Context) error {
		call := slices.Clone(args)
		call[0] = reflect.ValueOf(ctx)
		for i := 1; i < len(call); i++ {
			expanded, err := s.expandArgument(ctx, call[i])
			if err != nil {
				return err
			}
			call[i] = expanded
		}
		if err, failed := body.Call(call)[0].Interface().(error); failed {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s\n    %w", s.step, err)
	}
	return nil
}

func (s *Scene) expandArgument(ctx context.Context, v reflect.Value) (reflect.Value, error) {
	switch a := v.Interface().(type) {
	case string:
		text, err := s.expand(ctx, a)
		return reflect.ValueOf(text), err
	case *godog.DocString:
		text, err := s.expand(ctx, a.Content)
		return reflect.ValueOf(&godog.DocString{MediaType: a.MediaType, Content: text}), err
	case *godog.Table:
		out := &godog.Table{}
		for _, row := range a.Rows {
			copied := *row
			copied.Cells = nil
			for _, cell := range row.Cells {
				text, err := s.expand(ctx, cell.Value)
				if err != nil {
					return v, err
				}
				c := *cell
				c.Value = text
				copied.Cells = append(copied.Cells, &c)
			}
			out.Rows = append(out.Rows, &copied)
		}
		return reflect.ValueOf(out), nil
	default:
		return v, nil
	}
}

var addressToken = regexp.MustCompile(`<(nats|redis|http) for ([^<>]+)>`)

// expand replaces <id> by the scenario's token and <kind for destination> by the
// address a client uses to reach that destination.
func (s *Scene) expand(ctx context.Context, text string) (string, error) {
	text = strings.ReplaceAll(text, "<id>", s.scenario.ID)
	var failed error
	text = addressToken.ReplaceAllStringFunc(text, func(token string) string {
		part := addressToken.FindStringSubmatch(token)
		system, err := s.system(ctx, part[1])
		if err != nil {
			failed = errors.Join(failed, err)
			return token
		}
		address, err := system.Address(Destination{Kind: part[1], Name: part[2]})
		if err != nil {
			failed = errors.Join(failed, err)
			return token
		}
		return address
	})
	for name, value := range s.run.constants(s) { //plexus:orderfree tokens do not overlap
		text = strings.ReplaceAll(text, name, value)
	}
	return text, failed
}

func (s *Scene) system(ctx context.Context, kind string) (System, error) {
	if system, ok := s.systems[kind]; ok {
		return system, nil
	}
	system, err := s.stage.System(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("external system %s: %w", kind, err)
	}
	s.systems[kind] = system
	return system, nil
}

// close ends what the scene opened, then its stage.
func (s *Scene) close(failed bool) error {
	var errs []error
	if s.refusalOpen && !failed {
		errs = append(errs, fmt.Errorf("the last statement was refused and no step expects it:\n%s", s.last.Refusal))
	}
	for _, undo := range slices.Backward(s.fixtures) {
		errs = append(errs, undo())
	}
	if len(s.sessions) > 0 {
		errs = append(errs, s.stage.Do("end of the scenario", func(ctx context.Context) error {
			var errs []error
			for _, session := range s.sessions {
				errs = append(errs, session.end(ctx))
			}
			return errors.Join(errs...)
		}))
	}
	return errors.Join(append(errs, s.stage.Close(failed || errors.Join(errs...) != nil))...)
}
