package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cucumber/godog"

	"plexus/nspl/parse"
)

// pipelinesDir holds the NSPL of pipelines that several features share.
const pipelinesDir = "pipelines"

const sessionPattern = `(the operator|session \w+)`

func (s *Scene) languageSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^`+sessionPattern+` runs:$`, func(ctx context.Context, who string, text *godog.DocString) error {
		return s.execute(ctx, who, text.Content)
	})
	s.define(sc, `^`+sessionPattern+` runs each of:$`, func(ctx context.Context, who string, text *godog.DocString) error {
		return s.script(ctx, who, text.Content)
	})
	s.define(sc, `^`+sessionPattern+` runs each of the (\w+) pipeline$`, func(ctx context.Context, who, pipeline string) error {
		text, err := s.pipeline(ctx, pipeline)
		if err != nil {
			return err
		}
		return s.script(ctx, who, text)
	})
	s.sessionSteps(sc)
	s.refusalSteps(sc)
	s.define(sc, `^domain "([^"]*)"$`, func(ctx context.Context, name string) error {
		return s.mustExecute(ctx, "CREATE DOMAIN "+name, "USE "+name)
	})
	s.define(sc, `^domain "([^"]*)" with the (\w+) pipeline$`, func(ctx context.Context, name, pipeline string) error {
		if err := s.install(ctx, name, pipeline); err != nil {
			return err
		}
		return s.mustExecute(ctx, "START")
	})
	s.define(sc, `^domain "([^"]*)" with the (\w+) pipeline, not started$`, s.install)

	s.define(sc, `^`+sessionPattern+` asks what can stand at \| in:$`, func(ctx context.Context, who string, text *godog.DocString) error {
		session, err := s.session(ctx, who)
		if err != nil {
			return err
		}
		before, after, found := strings.Cut(text.Content, "|")
		if !found {
			return fmt.Errorf("no | in %q", text.Content)
		}
		list, err := session.session.Suggest(ctx, before+after, len(before))
		s.last = Reply{Disposition: "COMPLETED", Text: list}
		return err
	})

	// A statement whose answer the node cannot give: neither success nor failure.
	s.define(sc, `^`+sessionPattern+` gets no answer to:$`, func(ctx context.Context, who string, text *godog.DocString) error {
		session, err := s.session(ctx, who)
		if err != nil {
			return err
		}
		reply, err := session.session.Execute(ctx, text.Content)
		if err == nil {
			return fmt.Errorf("the answer is %s: %s%s", reply.Disposition, reply.Text, reply.Refusal)
		}
		return nil
	})
	s.result(sc, `^it succeeds$`, func(context.Context) error {
		if !s.last.Completed() {
			return fmt.Errorf("%s: %s", s.last.Disposition, s.last.Refusal)
		}
		return nil
	})
	s.result(sc, `^repeating its reference gives the same result$`, func(ctx context.Context) error {
		session, err := s.session(ctx, s.asked.who)
		if err != nil {
			return err
		}
		reply, err := session.session.ExecuteAs(ctx, s.last.Reference, s.asked.text)
		if err != nil {
			return err
		}
		if reply.Disposition != s.last.Disposition || reply.Text != s.last.Text {
			return fmt.Errorf("it is %s: %s%s", reply.Disposition, reply.Text, reply.Refusal)
		}
		if reply.Origin != recovered {
			return fmt.Errorf("the node does not say that the outcome is an earlier one, but %s", reply.Origin)
		}
		return nil
	})
	s.result(sc, `^it is refused with "([^"]*)"$`, func(_ context.Context, text string) error {
		if s.last.Completed() {
			return fmt.Errorf("it succeeded: %s", s.last.Text)
		}
		s.refusalOpen = false
		if !strings.Contains(s.last.Refusal, text) {
			return fmt.Errorf("it was refused with:\n%s", s.last.Refusal)
		}
		return nil
	})
	s.result(sc, `^it is refused with:$`, func(_ context.Context, text *godog.DocString) error {
		if s.last.Completed() {
			return fmt.Errorf("it succeeded: %s", s.last.Text)
		}
		s.refusalOpen = false
		if strings.TrimRight(s.last.Refusal, "\n") != strings.TrimRight(text.Content, "\n") {
			return fmt.Errorf("it was refused with:\n%s", s.last.Refusal)
		}
		return nil
	})
	s.result(sc, `^the disposition is (\w+)$`, func(_ context.Context, want string) error {
		s.refusalOpen = false
		if s.last.Disposition != want {
			return fmt.Errorf("it is %s: %s%s", s.last.Disposition, s.last.Text, s.last.Refusal)
		}
		return nil
	})
	s.define(sc, `^it says "([^"]*)"$`, func(_ context.Context, text string) error {
		if !strings.Contains(s.last.Text, text) {
			return fmt.Errorf("it says:\n%s", s.last.Text)
		}
		return nil
	})
	s.define(sc, `^it does not say "([^"]*)"$`, func(_ context.Context, text string) error {
		if strings.Contains(s.last.Text, text) {
			return fmt.Errorf("it says:\n%s", s.last.Text)
		}
		return nil
	})
	s.define(sc, `^it prints:$`, func(_ context.Context, text *godog.DocString) error {
		if strings.TrimRight(s.last.Text, "\n") != strings.TrimRight(text.Content, "\n") {
			return fmt.Errorf("it prints:\n%s", s.last.Text)
		}
		return nil
	})
	s.define(sc, `^the level is (\w+)$`, func(_ context.Context, level string) error {
		if !strings.Contains(s.last.Text, "quiesce level: "+level) {
			return fmt.Errorf("it says:\n%s", s.last.Text)
		}
		return nil
	})
	s.define(sc, `^the result contains:$`, func(_ context.Context, t *godog.Table) error {
		return documentHas(s.last.Document, t)
	})
}

// recovered is the origin of an outcome that a node remembered.
const recovered = "RECOVERED"

// request is what was asked, and by which session.
type request struct{ who, text string }

// execute sends one request as it is.
func (s *Scene) execute(ctx context.Context, who, text string) error {
	session, err := s.session(ctx, who)
	if err != nil {
		return err
	}
	reply, err := session.session.Execute(ctx, text)
	if err != nil {
		return err
	}
	s.asked = request{who, text}
	s.answer(reply)
	if reply.Completed() {
		s.declare(text)
	}
	return nil
}

func (s *Scene) answer(r Reply) {
	s.last = r
	s.refusalOpen = !r.Completed()
}

// script sends the statements of a text one request each and stops at the first
// refusal.
func (s *Scene) script(ctx context.Context, who, text string) error {
	spans, _, err := parse.Split(text)
	if err != nil {
		return err
	}
	for _, span := range spans {
		statement := strings.TrimSpace(text[span.Start:span.End])
		if statement == "" {
			continue
		}
		if err := s.execute(ctx, who, statement); err != nil {
			return err
		}
		if !s.last.Completed() {
			return nil
		}
	}
	return nil
}

// mustExecute runs statements of the operator that a scenario takes for granted.
func (s *Scene) mustExecute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.script(ctx, operator, statement); err != nil {
			return err
		}
		if !s.last.Completed() {
			s.refusalOpen = false
			return fmt.Errorf("%s:\n%s", s.last.Disposition, s.last.Refusal)
		}
	}
	return nil
}

// install creates a domain and the pipeline in it with one transaction.
func (s *Scene) install(ctx context.Context, name, pipeline string) error {
	text, err := s.pipeline(ctx, pipeline)
	if err != nil {
		return err
	}
	return s.mustExecute(ctx, "CREATE DOMAIN "+name, "USE "+name, "BEGIN", text, "COMMIT")
}

func (s *Scene) pipeline(ctx context.Context, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(pipelinesDir, name+".nspl"))
	if err != nil {
		return "", err
	}
	return s.expand(ctx, string(text))
}
