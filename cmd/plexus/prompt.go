package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

type promptCommand struct{}

// prompt is one interactive conversation, or one that is piped in.
type prompt struct {
	*program
	session *client.Session
	lines   lineReader
	timing  bool
	status  int
}

// lineReader reads one line under a prompt.
type lineReader interface {
	line(prompt string) (string, error)
}

func (c *promptCommand) run(ctx context.Context, p *program) int {
	session, err := p.connect(ctx, p.notice)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	q := &prompt{program: p, session: session}
	leave, err := q.enter()
	if err != nil {
		fmt.Fprintf(p.err, "plexus: %v\n", err)
		return statusUsage
	}
	if q.interactive() {
		fmt.Fprintln(q.out, help)
	}
	q.converse(ctx)
	leave()
	if q.session.Transaction() != "" {
		fmt.Fprintln(q.err, "the open transaction is reverted")
	}
	if err := session.Close(ctx); err != nil && q.status == statusDone {
		return q.statusOf(ctx, err)
	}
	return q.status
}

// notice prints what the node reports beside replies.
func (p *program) notice(event *sessionpb.Event) {
	if n := event.GetNotice(); n != nil {
		fmt.Fprintf(p.err, "[notice] %s: %s\n", n.GetSource(), n.GetText())
	}
}

// enter takes over the terminal, if there is one, and returns how to give it
// back.
func (q *prompt) enter() (leave func(), err error) {
	if !q.interactive() {
		q.lines = pipedLines{bufio.NewReader(q.in)}
		return func() {}, nil
	}
	before, err := term.MakeRaw(int(q.in.Fd()))
	if err != nil {
		return nil, err
	}
	editor := term.NewTerminal(readWriter{clearing{q.in}, q.out}, "")
	history := loadHistory()
	editor.History = history
	// Rows and notices that arrive meanwhile appear above the prompt.
	shared := *q.terminal
	shared.out, shared.err = editor, editor
	q.program = &program{terminal: &shared, world: q.world, options: q.options, kong: q.kong}
	q.lines = editedLines{editor}
	return func() {
		if err := term.Restore(int(q.in.Fd()), before); err != nil {
			fmt.Fprintf(q.err, "plexus: %v\n", err)
		}
		history.save()
	}, nil
}

type readWriter struct {
	io.Reader
	io.Writer
}

// clearing lets Ctrl-C clear the line instead of ending the conversation.
type clearing struct{ in io.Reader }

func (c clearing) Read(p []byte) (int, error) {
	const ctrlC, ctrlU = 3, 21
	n, err := c.in.Read(p)
	for i, b := range p[:n] {
		if b == ctrlC {
			p[i] = ctrlU
		}
	}
	return n, err
}

type editedLines struct{ editor *term.Terminal }

func (e editedLines) line(prompt string) (string, error) {
	e.editor.SetPrompt(prompt)
	return e.editor.ReadLine()
}

type pipedLines struct{ in *bufio.Reader }

func (l pipedLines) line(string) (string, error) {
	text, err := l.in.ReadString('\n')
	if text != "" && errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}

// converse reads statements until the input ends.
func (q *prompt) converse(ctx context.Context) {
	buffer := ""
	for ctx.Err() == nil {
		text, err := q.lines.line(q.text(buffer != ""))
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return
		}
		switch command := strings.TrimSpace(text); {
		case buffer == "" && (command == "exit" || command == "quit"):
			return
		case buffer == "" && command == "":
			continue
		case buffer == "" && command == "help":
			q.setting(`\help`)
			continue
		case buffer == "" && strings.HasPrefix(command, `\`):
			q.setting(command)
			continue
		case command == "" && incomplete(buffer):
			buffer = "" // a blank line gives up what does not parse
			continue
		}
		buffer += text + "\n"
		if !strings.HasSuffix(strings.TrimSpace(text), ";") && incomplete(buffer) {
			continue
		}
		q.run(ctx, buffer)
		buffer = ""
	}
}

// text is the prompt itself.
func (q *prompt) text(continued bool) string {
	head, state := "plexus", ""
	if continued {
		head = "...."
	}
	if q.session.Transaction() != "" {
		state = " tx"
	}
	return fmt.Sprintf("%s[%s%s]> ", head, q.session.Domain(), state)
}

func incomplete(text string) bool {
	_, err := parse.Statements(text)
	return err != nil
}

// help is all there is to know about the prompt.
const help = `statements end with ; and an empty line gives one up   \json \text \timing \help   exit`

// setting applies a line that begins with a backslash.
func (q *prompt) setting(line string) {
	switch line {
	case `\json`:
		q.options.Format = "json"
	case `\text`:
		q.options.Format = "text"
	case `\timing`:
		q.timing = !q.timing
	case `\help`:
		fmt.Fprintln(q.out, help)
	default:
		fmt.Fprintf(q.err, "no command %s; \\help lists them\n", line)
	}
}

// run executes the statements of a complete input.
func (q *prompt) run(ctx context.Context, text string) {
	statements, err := split(text)
	if err != nil {
		explain(q.err, err, text)
		q.status = statusUsage
		return
	}
	for _, statement := range statements {
		parsed, err := parse.Statement(statement.text)
		if err != nil {
			explain(q.err, err, statement.text)
			return
		}
		switch parsed.(type) {
		case *ast.CreateSubscription:
			q.subscribe(ctx, statement.text)
			continue
		case *ast.DeleteSubscription:
			q.unsubscribe(ctx, statement.text)
			continue
		}
		started := q.world.Clock().Now()
		q.status = q.execute(ctx, q.session, statement, text)
		if q.timing {
			fmt.Fprintf(q.err, "%s\n", q.world.Clock().Now().Sub(started))
		}
		if q.status != statusDone {
			return
		}
	}
}

// subscribe prints the rows of a subscription while the conversation goes on.
func (q *prompt) subscribe(ctx context.Context, statement string) {
	stream, err := q.session.Subscribe(ctx, statement, sessionpb.RowFormat_JSON)
	if err == nil {
		_, err = stream.Recv() // Opened
	}
	if err != nil {
		q.status = q.refused(ctx, err)
		return
	}
	fmt.Fprintln(q.out, "subscribed")
	q.world.Tasks().Go("rows", func() {
		for {
			frame, err := stream.Recv()
			if err != nil || q.frame(frame, "[rows] ") {
				return
			}
		}
	})
}

// unsubscribe ends a subscription of this conversation.
func (q *prompt) unsubscribe(ctx context.Context, statement string) {
	text, err := q.session.Unsubscribe(ctx, statement)
	if err != nil {
		q.status = q.refused(ctx, err)
		return
	}
	fmt.Fprintln(q.out, strings.TrimRight(text, "\n"))
}
