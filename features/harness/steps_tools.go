package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cucumber/godog"
)

// Commands is a stage that can run the programs of the product.
type Commands interface {
	// Command runs a program to its end; it is given the address and the password
	// of the first node by environment.
	Command(ctx context.Context, program string, args []string) (*CommandResult, error)
	// Places are tokens for paths and addresses a command line names.
	Places() map[string]string
}

// CommandResult is how a program ended.
type CommandResult struct {
	Status         int
	Output, Errors string
}

func (s *Scene) toolSteps(sc *godog.ScenarioContext) {
	s.define(sc, `^the command (plexusd?) (.*?) ?exits (\d+)$`, func(ctx context.Context, program, line string, want int) error {
		stage, ok := s.stage.(Commands)
		if !ok {
			return fmt.Errorf("this world runs no programs")
		}
		args, err := words(line)
		if err != nil {
			return err
		}
		if s.command, err = stage.Command(ctx, program, args); err != nil {
			return err
		}
		if s.command.Status != want {
			return fmt.Errorf("it exited %d\nstdout: %s\nstderr: %s", s.command.Status, s.command.Output, s.command.Errors)
		}
		return nil
	})
	s.define(sc, `^its output is:$`, func(_ context.Context, text *godog.DocString) error {
		if strings.TrimRight(s.command.Output, "\n") != strings.TrimRight(text.Content, "\n") {
			return fmt.Errorf("it is:\n%s", s.command.Output)
		}
		return nil
	})
	s.define(sc, `^its output is printed$`, func(context.Context) error {
		fmt.Println(s.command.Output)
		return nil
	})
	s.define(sc, `^its output contains "([^"]*)"$`, func(_ context.Context, text string) error {
		if !strings.Contains(s.command.Output, text) {
			return fmt.Errorf("it is:\n%s", s.command.Output)
		}
		return nil
	})
	// What plexus status tells: the lines that begin with a node or hold an operator.
	s.define(sc, `^its output says "([^"]*)" of `+nodePattern+`$`, func(ctx context.Context, text, name string) error {
		node, err := s.node(ctx, name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(s.command.Output) {
			if cells := strings.Fields(line); len(cells) > 0 && cells[0] == node.Name() && strings.Contains(line, text) {
				return nil
			}
		}
		return fmt.Errorf("of %s it does not:\n%s", node.Name(), s.command.Output)
	})
	s.define(sc, `^its output says who runs (\w+) (\w+)$`, func(_ context.Context, kind, name string) error {
		for line := range strings.Lines(s.command.Output) {
			cells := strings.Fields(line)
			at := slices.Index(cells, name)
			if at < 1 || at+1 >= len(cells) || !strings.Contains(line, kind) {
				continue
			}
			if find(s.alive(), cells[at+1]) != nil {
				return nil
			}
			return fmt.Errorf("%s is on %q, which does not run:\n%s", name, cells[at+1], s.command.Output)
		}
		return fmt.Errorf("there is no line of it:\n%s", s.command.Output)
	})
	s.define(sc, `^its error output is:$`, func(_ context.Context, text *godog.DocString) error {
		if strings.TrimRight(s.command.Errors, "\n") != strings.TrimRight(text.Content, "\n") {
			return fmt.Errorf("it is:\n%s", s.command.Errors)
		}
		return nil
	})
	s.define(sc, `^its error output contains "([^"]*)"$`, func(_ context.Context, text string) error {
		if !strings.Contains(s.command.Errors, text) {
			return fmt.Errorf("it is:\n%s", s.command.Errors)
		}
		return nil
	})
	s.define(sc, `^its error output does not contain "([^"]*)"$`, func(_ context.Context, text string) error {
		if strings.Contains(s.command.Errors, text) {
			return fmt.Errorf("it is:\n%s", s.command.Errors)
		}
		return nil
	})
	s.define(sc, `^its JSON has:$`, func(_ context.Context, t *godog.Table) error {
		decoder := json.NewDecoder(strings.NewReader(s.command.Output))
		decoder.UseNumber()
		var document any
		if err := decoder.Decode(&document); err != nil {
			return fmt.Errorf("no JSON: %w\n%s", err, s.command.Output)
		}
		return documentHas(document, t)
	})
	s.define(sc, `^the file "([^"]*)" contains:$`, func(_ context.Context, name string, text *godog.DocString) error {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text.Content+"\n"), 0o600)
	})
}

// words splits a command line at spaces; single quotes keep a word together.
func words(line string) ([]string, error) {
	var out []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word strings.Builder
		for rest != "" && rest[0] != ' ' {
			if rest[0] != '\'' {
				word.WriteByte(rest[0])
				rest = rest[1:]
				continue
			}
			quoted, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return nil, fmt.Errorf("unclosed quote in %q", line)
			}
			word.WriteString(quoted)
			rest = after
		}
		out = append(out, word.String())
	}
	return out, nil
}
