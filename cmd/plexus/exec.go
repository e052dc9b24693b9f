package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"plexus/engine/client"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

type execCommand struct {
	File       string   `short:"f" placeholder:"FILE" help:"Read statements from a file; - is standard input."`
	Statements []string `arg:"" optional:"" help:"Statements with a semicolon between them."`
}

func (c *execCommand) run(ctx context.Context, p *program) int {
	text, err := c.text(p)
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
		return statusUsage
	}
	statements, err := split(text)
	if err != nil {
		p.refuse(err, text)
		return statusUsage
	}
	session, err := p.connect(ctx, nil)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	status := statusDone
	for _, statement := range statements {
		if status = p.execute(ctx, session, statement, text); status != statusDone {
			break
		}
	}
	if status == statusDone && leavesOpen(statements) {
		fmt.Fprintln(p.err, "plexus: no COMMIT follows the last BEGIN: nothing of this transaction is applied")
		status = statusFailed
	}
	if err := session.Close(ctx); err != nil && status == statusDone {
		return p.statusOf(ctx, err)
	}
	return status
}

// leavesOpen reports whether the statements end inside a transaction, which ends
// with the session.
func leavesOpen(statements []part) bool {
	open := false
	for _, part := range statements {
		statement, err := parse.Statement(part.text)
		if err != nil {
			continue // the node refused it
		}
		switch statement.(type) {
		case *ast.Begin:
			open = true
		case *ast.Commit, *ast.Revert:
			open = false
		}
	}
	return open
}

// errNothingToRun says that neither a file nor an argument was given.
var errNothingToRun = errors.New("nothing to run: give statements or -f FILE")

func (c *execCommand) text(p *program) (string, error) {
	switch {
	case c.File == "-":
		text, err := io.ReadAll(p.in)
		return string(text), err
	case c.File != "":
		text, err := os.ReadFile(c.File)
		return string(text), err
	case len(c.Statements) > 0:
		return strings.Join(c.Statements, " "), nil
	}
	return "", errNothingToRun
}

// part is one statement of a text and the byte offset at which it begins.
type part struct {
	text  string
	start int
}

// split parses the whole text, so that nothing is sent when any of it does not
// parse, and returns its statements.
func split(text string) ([]part, error) {
	if _, err := parse.Statements(text); err != nil {
		return nil, err
	}
	spans, _, err := parse.Split(text)
	var statements []part
	for _, span := range spans {
		whole := text[span.Start:span.End]
		left := strings.TrimLeftFunc(whole, unicode.IsSpace)
		if statement := strings.TrimSpace(left); statement != "" {
			statements = append(statements, part{statement, span.End - len(left)})
		}
	}
	return statements, err
}

// refuse reports a text that does not parse in the chosen form.
func (p *program) refuse(err error, text string) {
	if p.options.Format == "json" {
		p.printJSON(refusal(err))
	}
	explain(p.err, err, text)
}

// explain prints a parse error with its place in the text.
func explain(out io.Writer, err error, text string) {
	var many ast.Diagnostics
	var one *ast.Diagnostic
	switch {
	case errors.As(err, &many):
		fmt.Fprint(out, many.Explain(text))
	case errors.As(err, &one):
		fmt.Fprint(out, one.Explain(text))
	default:
		fmt.Fprintf(out, "plexus: %v\n", err)
	}
}

// execute runs one statement of a text and prints its result.
func (p *program) execute(ctx context.Context, session *client.Session, statement part, text string) int {
	reply, err := session.Execute(ctx, statement.text)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	return p.print(statement, text, reply)
}
