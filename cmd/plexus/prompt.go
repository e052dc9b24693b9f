package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
	// beside is where rows and notices go, which arrive while the prompt waits.
	beside io.Writer
	timing bool
	status int
}

// lineReader reads one line under a prompt.
type lineReader interface {
	line(prompt string) (string, error)
}

func (c *promptCommand) run(ctx context.Context, p *program) int {
	q := &prompt{program: p, beside: p.err}
	session, err := p.connect(ctx, q.notice)
	if err != nil {
		return p.statusOf(ctx, err)
	}
	q.session = session
	leave := q.enter(ctx)
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
func (q *prompt) notice(event *sessionpb.Event) {
	if n := event.GetNotice(); n != nil {
		fmt.Fprintf(q.beside, "[notice] %s: %s\n", n.GetSource(), n.GetText())
	}
}

// enter chooses how lines are read, and returns what is to be done at the end.
func (q *prompt) enter(ctx context.Context) (leave func()) {
	if !q.terminals() {
		q.lines = pipedLines{bufio.NewReader(q.in)}
		return func() {}
	}
	history := loadHistory()
	e := newEditor(ctx, q, history)
	q.lines, q.beside = e, e.held
	return func() {
		e.held.print(q.out)
		history.save()
	}
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
		if err != nil {
			return
		}
		if strings.HasSuffix(strings.TrimRight(text, " \t"), "\n") && incomplete(text) && !strings.HasSuffix(strings.TrimSpace(text), ";") {
			continue // several lines that end in a blank one are given up
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
const help = `statements end with ; and an empty line gives one up   \json \text \timing \help [TOPIC]   exit`

// setting applies a line that begins with a backslash.
func (q *prompt) setting(line string) {
	command, topic, _ := strings.Cut(line, " ")
	switch command {
	case `\json`:
		q.options.Format = "json"
	case `\text`:
		q.options.Format = "text"
	case `\timing`:
		q.timing = !q.timing
	case `\help`:
		fmt.Fprintln(q.out, helpOn(topic))
	default:
		fmt.Fprintf(q.err, "no command %s; \\help lists them\n", command)
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
	rows := &program{terminal: &terminal{in: q.in, out: q.beside, err: q.beside}, world: q.world, options: q.options, kong: q.kong}
	q.world.Tasks().Go("rows", func() {
		for {
			frame, err := stream.Recv()
			if err != nil || rows.frame(frame, "[rows] ") {
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
