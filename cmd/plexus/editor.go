package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"plexus/engine/session/sessionpb"
	"plexus/nspl/paint"
	"plexus/primitives"
)

// suggestTime bounds how long a Tab waits for the node.
const suggestTime = 2 * time.Second

// editor reads statements from a terminal, with history, completion and colours.
type editor struct {
	shell   *readline.Shell
	q       *prompt
	reading atomic.Bool // the prompt waits
}

// newEditor takes over the terminal for reading.
func newEditor(ctx context.Context, q *prompt, history *history) *editor {
	e := &editor{shell: readline.NewShell(), q: q}
	e.shell.History.Delete()
	e.shell.History.Add("statements", history)
	e.shell.Prompt.Primary(func() string { return q.text(false) })
	e.shell.Prompt.Secondary(func() string { return q.text(true) })
	e.shell.AcceptMultiline = func(line []rune) bool { return accepted(string(line)) }
	e.shell.Completer = func(line []rune, cursor int) readline.Completions { return e.complete(ctx, line, cursor) }
	for name, value := range map[string]any{ //plexus:orderfree independent settings
		"completion-ignore-case": true, "bell-style": "none", "history-autosuggest": false, "autocomplete": false,
	} {
		_ = e.shell.Config.Set(name, value) // an unknown one changes nothing
	}
	if q.coloured() {
		e.shell.SyntaxHighlighter = func(line []rune) string { return paint.Text(string(line)) }
	}
	return e
}

// line implements lineReader: a whole input, which may have several lines. Ctrl-C
// clears it.
func (e *editor) line(string) (string, error) {
	e.reading.Store(true)
	text, err := e.shell.Readline()
	e.reading.Store(false)
	if errors.Is(err, readline.ErrInterrupt) {
		return "", nil
	}
	return text, err
}

// accepted reports whether an input is to be taken as it is: a command of the prompt,
// statements that parse or end in a semicolon, or a blank line, which gives up.
func accepted(text string) bool {
	trimmed := strings.TrimSpace(text)
	last := text[strings.LastIndexByte(text, '\n')+1:]
	switch {
	case trimmed == "", trimmed == "exit", trimmed == "quit", trimmed == "help", strings.HasPrefix(trimmed, `\`):
		return true
	case strings.HasSuffix(trimmed, ";"):
		return true
	case strings.Contains(text, "\n") && strings.TrimSpace(last) == "":
		return true
	}
	return !incomplete(text)
}

// complete asks the node what can stand at the cursor, and the disk for paths.
func (e *editor) complete(ctx context.Context, line []rune, cursor int) readline.Completions {
	text := string(line)
	at := len(string(line[:cursor]))
	asking, cancel := primitives.WithDeadline(ctx, e.q.world, e.q.world.Clock().Now().Add(suggestTime))
	defer cancel()
	reply, err := e.q.session.Suggest(asking, text, at)
	switch {
	case err != nil:
		return readline.CompleteMessage("%v", err)
	case reply.GetStatus() == sessionpb.SuggestStatus_MISSING_CONTEXT:
		return readline.CompleteMessage("no domain is selected; USE one")
	}
	candidates, prefix, hints := candidatesOf(text, at, reply.GetSuggestions())
	if len(candidates) == 0 && len(hints) > 0 {
		return readline.CompleteMessage("%s", strings.Join(hints, " or "))
	}
	list := readline.CompleteRaw(candidates).NoSort()
	list.PREFIX = prefix
	return list.NoSpace('/')
}

// candidatesOf turns suggestions into what replaces the text from the last blank to
// the cursor, and tells what only a person can think of.
func candidatesOf(text string, cursor int, suggestions []*sessionpb.Suggestion) (list []readline.Completion, prefix string, hints []string) {
	blank := strings.LastIndexFunc(text[:cursor], unicode.IsSpace) + 1
	for _, s := range suggestions {
		switch {
		case s.GetLocalPath():
			list = append(list, paths(text, blank, cursor, s)...)
		case s.GetReplacement() == "":
			hints = append(hints, s.GetDisplay())
		case int(s.GetStart()) >= blank:
			list = append(list, readline.Completion{
				Value: text[blank:s.GetStart()] + s.GetReplacement(), Display: s.GetDisplay(), Description: s.GetDetail(), Tag: s.GetKind(),
			})
		}
	}
	return list, text[blank:cursor], hints
}

// paths completes the name of a file in quotes.
func paths(text string, blank, cursor int, s *sessionpb.Suggestion) (list []readline.Completion) {
	begun, quote := text[s.GetStart():cursor], ""
	if s.GetStart() == 0 || strings.IndexByte(`'"`, text[s.GetStart()-1]) < 0 {
		begun, quote = "", "'"
	}
	if int(s.GetStart()) < blank {
		return nil
	}
	pattern := begun
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(begun, "~/") {
		pattern = filepath.Join(home, begun[2:])
	}
	found, err := filepath.Glob(pattern + "*")
	if err != nil {
		return nil
	}
	for _, path := range found {
		value := begun + strings.TrimPrefix(path, pattern)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			value += "/"
		}
		list = append(list, readline.Completion{Value: text[blank:s.GetStart()] + quote + value, Display: value, Tag: s.GetKind()})
	}
	return list
}

// lineBytesMax bounds one line that appears above the prompt.
const lineBytesMax = 8 << 10

// overPrompt writes what arrives beside replies: over the prompt while it waits.
type overPrompt struct{ e *editor }

func (a overPrompt) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if !a.e.reading.Load() {
			fmt.Fprintln(a.e.q.out, shortened(strings.TrimRight(line, "\n")))
			continue
		}
		if _, err := a.e.shell.PrintTransientf("%s", shortened(strings.TrimRight(line, "\n"))); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func shortened(line string) string {
	if len(line) <= lineBytesMax {
		return line
	}
	cut := lineBytesMax
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", line[:cut], len(line)-cut)
}

// terminals reports whether both ends are a terminal.
func (t *terminal) terminals() bool {
	out, ok := t.out.(*os.File)
	return ok && t.interactive() && term.IsTerminal(int(out.Fd())) && t.in == os.Stdin && out == os.Stdout
}
