package harness

import (
	"context"
	"fmt"

	"github.com/cucumber/godog"

	"plexus/primitives"
)

// sessionSteps open sessions and lose them.
func (s *Scene) sessionSteps(sc *godog.ScenarioContext) {
	signIn := func(ctx context.Context, who, user, password string, node Node) error {
		if _, err := s.openSession(ctx, who, node, Credentials{User: user, Password: password}); err != nil {
			s.answer(Reply{Disposition: "FAILED", Refusal: err.Error()})
			return nil
		}
		s.answer(Reply{Disposition: "COMPLETED"})
		return nil
	}
	s.define(sc, `^`+sessionPattern+` signs in as "([^"]*)" with password "([^"]*)"$`, func(ctx context.Context, who, user, password string) error {
		node, err := s.someNode()
		if err != nil {
			return err
		}
		return signIn(ctx, who, user, password, node)
	})
	s.define(sc, `^`+sessionPattern+` signs in as "([^"]*)" with password "([^"]*)" on `+nodePattern+`$`,
		func(ctx context.Context, who, user, password, name string) error {
			node, err := s.node(ctx, name)
			if err != nil {
				return err
			}
			return signIn(ctx, who, user, password, node)
		})
	s.define(sc, `^`+sessionPattern+` drops$`, func(ctx context.Context, who string) error {
		session, err := s.session(ctx, who)
		if err != nil {
			return err
		}
		return session.end(ctx)
	})
	s.define(sc, `^`+sessionPattern+` closes$`, func(ctx context.Context, who string) error {
		session, err := s.session(ctx, who)
		if err != nil {
			return err
		}
		err = session.session.Close(ctx)
		session.session = nil
		return err
	})
	s.define(sc, `^`+sessionPattern+` (?:opens on|reconnects to) `+nodePattern+`$`, func(ctx context.Context, who, name string) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		credentials := s.stage.Credentials()
		for _, n := range s.sessions {
			if n.name != who {
				continue
			}
			credentials = n.credentials
			if err := n.end(ctx); err != nil {
				return err
			}
		}
		_, err = s.openSession(ctx, who, node, credentials)
		return err
	})
	s.define(sc, `^`+sessionPattern+` begins to run:$`, func(ctx context.Context, who string, text *godog.DocString) error {
		return s.begin(ctx, who, text.Content)
	})
	s.define(sc, `^`+sessionPattern+` is answered`+within+`$`, func(ctx context.Context, who, bound string) error {
		d, err := optionalDuration(bound)
		if err != nil {
			return err
		}
		p := s.pending[who]
		if p == nil {
			return fmt.Errorf("%s runs nothing", who)
		}
		delete(s.pending, who)
		if err := s.eventually(ctx, d, func(context.Context) (observation, error) {
			return observation{"no answer", p.done.IsSet()}, nil
		}); err != nil {
			return err
		}
		if p.err != nil {
			return p.err
		}
		s.answer(p.reply)
		return nil
	})
	s.define(sc, `^the operator runs on `+nodePattern+`:$`, func(ctx context.Context, name string, text *godog.DocString) error {
		return s.executeOn(ctx, name, text.Content)
	})
	// For reads of a node that may be behind.
	s.define(sc, `^the operator runs on `+nodePattern+` until it succeeds:$`, func(ctx context.Context, name string, text *godog.DocString) error {
		return s.eventually(ctx, 0, func(ctx context.Context) (observation, error) {
			err := s.executeOn(ctx, name, text.Content)
			s.refusalOpen = false
			return observation{s.last.Refusal, s.last.Completed()}, err
		})
	})
}

// executeOn sends one request of the operator to a node.
func (s *Scene) executeOn(ctx context.Context, name, text string) error {
	node, err := s.node(ctx, name)
	if err != nil {
		return err
	}
	who := operator + " on " + node.Name()
	session, err := s.sessionOn(ctx, who, node)
	if err != nil {
		return err
	}
	if domain := s.domain(); domain != "" && session.session.Domain() != domain {
		if err := s.execute(ctx, who, "USE "+domain); err != nil {
			return err
		}
	}
	return s.execute(ctx, who, text)
}

// pending is a request that a step does not wait for.
type pending struct {
	done  *primitives.Event
	reply Reply
	err   error
}

// begin sends a request and lets the scenario go on.
func (s *Scene) begin(ctx context.Context, who, text string) error {
	session, err := s.session(ctx, who)
	if err != nil {
		return err
	}
	w := s.stage.World()
	p := &pending{done: primitives.NewEvent(w)}
	s.pending[who] = p
	w.Tasks().Go("statement", func() {
		p.reply, p.err = session.session.Execute(context.Background(), text)
		p.done.Set()
	})
	return nil
}

// someNode returns a node that can take a session.
func (s *Scene) someNode() (Node, error) {
	nodes := s.stage.Nodes()
	if len(nodes) == 0 {
		return nil, errNoCluster
	}
	for _, n := range s.alive() {
		return n, nil
	}
	return nodes[0], nil
}

// session returns the named session, opened on some node when it is new.
func (s *Scene) session(ctx context.Context, name string) (*namedSession, error) {
	for _, n := range s.sessions {
		if n.name == name && n.session != nil {
			return n, nil
		}
	}
	node, err := s.someNode()
	if err != nil {
		return nil, err
	}
	return s.openSession(ctx, name, node, s.stage.Credentials())
}

// sessionOn returns the named session, opened on the node when it is new.
func (s *Scene) sessionOn(ctx context.Context, name string, node Node) (*namedSession, error) {
	for _, n := range s.sessions {
		if n.name == name && n.session != nil {
			return n, nil
		}
	}
	return s.openSession(ctx, name, node, s.stage.Credentials())
}

func (s *Scene) openSession(ctx context.Context, name string, node Node, c Credentials) (*namedSession, error) {
	named := &namedSession{name: name, domain: "default", subscriptions: map[string]Subscription{}}
	known := false
	for _, n := range s.sessions {
		if n.name == name {
			named, known = n, true
		}
	}
	// The node first, then whoever else can serve it.
	nodes := []Node{node}
	for _, n := range s.alive() {
		if n != node {
			nodes = append(nodes, n)
		}
	}
	session, err := s.stage.Client(ctx, c, nodes, named.domain)
	if err != nil {
		return nil, fmt.Errorf("session of %s on %s: %w", name, node.Name(), err)
	}
	named.session, named.node, named.credentials = session, node, c
	if !known {
		s.sessions = append(s.sessions, named)
	}
	return named, nil
}
