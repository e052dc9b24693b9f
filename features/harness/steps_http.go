package harness

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cucumber/godog"
)

func (s *Scene) httpSteps(sc *godog.ScenarioContext) {
	request := func(ctx context.Context, method, target, node string, headers []string, body string) (*Response, error) {
		n, err := s.node(ctx, node)
		if err != nil {
			return nil, err
		}
		host, path, _ := strings.Cut(target, "/")
		return Exchange(ctx, s.stage.World(), n.EndpointAddress(),
			Request{Method: method, Host: host, Path: "/" + path, Headers: headers, Body: body})
	}
	keep := func(r *Response, err error) error {
		s.response = r
		return err
	}
	const method = `(GET|POST|PUT|DELETE)`
	s.define(sc, `^`+method+` (\S+) on `+nodePattern+`:$`, func(ctx context.Context, method, target, node string, body *godog.DocString) error {
		return keep(request(ctx, method, target, node, nil, body.Content))
	})
	s.define(sc, `^`+method+` (\S+) on `+nodePattern+`$`, func(ctx context.Context, method, target, node string) error {
		return keep(request(ctx, method, target, node, nil, ""))
	})
	s.define(sc, `^`+method+` (\S+) on `+nodePattern+` with header "([^"]*)":$`,
		func(ctx context.Context, method, target, node, header string, body *godog.DocString) error {
			return keep(request(ctx, method, target, node, []string{header}, body.Content))
		})
	s.define(sc, `^(\d+) MiB are posted to (\S+) on `+nodePattern+`$`, func(ctx context.Context, size int, target, node string) error {
		return keep(request(ctx, http.MethodPost, target, node, nil, strings.Repeat("x", size<<20)))
	})
	s.define(sc, `^(\d+) records are posted to (\S+) on `+nodePattern+`$`, func(ctx context.Context, n int, target, node string) error {
		records := generated(1, n)
		posted := newTally()
		posted.add(records)
		s.produced["http "+target] = posted
		for i, record := range records {
			r, err := request(ctx, http.MethodPost, target, node, nil, record.Payload)
			if err != nil {
				return err
			}
			if r.Status != http.StatusAccepted {
				return fmt.Errorf("record %d was answered %d", i+1, r.Status)
			}
		}
		return nil
	})
	// Sends until the answer is the expected one: what a statement set in motion
	// takes a moment.
	s.define(sc, `^`+method+` (\S+) on `+nodePattern+` is eventually answered (\d+):$`,
		func(ctx context.Context, method, target, node string, status int, body *godog.DocString) error {
			return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
				r, err := request(ctx, method, target, node, nil, body.Content)
				if err != nil {
					return observation{}, err
				}
				s.response = r
				return observation{fmt.Sprintf("answer %d", r.Status), r.Status == status}, nil
			})
		})
	s.define(sc, `^(\d+) bytes of noise are sent to the interconnect of `+nodePattern+`$`, func(ctx context.Context, n int, node string) error {
		to, err := s.node(ctx, node)
		if err != nil {
			return err
		}
		return s.noise(ctx, to.InterconnectAddress(), n)
	})
	s.define(sc, `^the reply is (\d+)$`, func(_ context.Context, status int) error {
		if s.response == nil {
			return fmt.Errorf("no request was sent")
		}
		if s.response.Status != status {
			return fmt.Errorf("it is %d: %s", s.response.Status, s.response.Body)
		}
		return nil
	})
	s.define(sc, `^the reply header (\S+) is "([^"]*)"$`, func(_ context.Context, name, value string) error {
		if s.response == nil {
			return fmt.Errorf("no request was sent")
		}
		if have := s.response.Header.Get(name); have != value {
			return fmt.Errorf("it is %q", have)
		}
		return nil
	})
	s.define(sc, `^the reply body does not contain "([^"]*)"$`, func(_ context.Context, text string) error {
		if s.response == nil {
			return fmt.Errorf("no request was sent")
		}
		if strings.Contains(s.response.Body, text) {
			return fmt.Errorf("it is %q", s.response.Body)
		}
		return nil
	})
}
