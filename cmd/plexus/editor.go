package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

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
	shell *readline.Shell
	q     *prompt
	held  *heldLines // what arrived beside replies
}

// newEditor takes over the terminal for reading.
func newEditor(ctx context.Context, q *prompt, history *history) *editor {
	e := &editor{shell: readline.NewShell(), q: q, held: newHeldLines(q.world)}
	e.held.wake = e.shell.Keys.RequestRefresh
	e.shell.History.Delete()
	e.shell.History.Add("statements", history)
	e.shell.Prompt.Primary(func() string {
		e.drawn()
		return q.text(false)
	})
	e.shell.Prompt.Secondary(func() string { return q.text(true) })
	e.shell.AcceptMultiline = func(line []rune) bool { return accepted(string(line)) }
	e.shell.Completer = func(line []rune, cursor int) readline.Completions { return e.complete(ctx, line, cursor) }
	// Where the cursor is follows from the width of the prompt. Asking the terminal
	// would lose keys: what is typed together with its answer is dropped.
	for name, value := range map[string]any{ //plexus:orderfree independent settings
		"cursor-position-probe":  false,
		"completion-ignore-case": true, "bell-style": "none", "history-autosuggest": false, "autocomplete": false,
		"menu-complete-display-prefix": true, // a Tab shows what there is, the next one takes it
	} {
		_ = e.shell.Config.Set(name, value) // an unknown one changes nothing
	}
	e.shell.Keymap.Register(map[string]func(){showHeld: e.showHeld})
	for _, keymap := range []string{"emacs", "emacs-standard", "vi-insert", "vi-command", "vi-move", "vi"} {
		_ = e.shell.Config.Bind(keymap, string(showHeldKey), showHeld, false) // one without a keymap changes nothing
		_ = e.shell.Config.Bind(keymap, "\t", "menu-complete", false)
	}
	if q.coloured() {
		e.shell.SyntaxHighlighter = func(line []rune) string { return paint.Text(string(line)) }
	}
	return e
}

// line implements lineReader: a whole input, which may have several lines. Ctrl-C
// clears it.
func (e *editor) line(string) (string, error) {
	fmt.Fprint(e.q.out, e.held.take(), room)
	text, err := e.shell.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return "", nil
	}
	return text, err
}

// What arrives beside replies is written by the one task that draws the prompt: it
// is held, the prompt is woken and draws itself, sees what is held and presses a
// key whose command writes above it.
const (
	showHeld    = "show-held-lines"
	showHeldKey = '\x1c' // Ctrl-\, which nothing else is bound to
)

// drawn is called when the prompt draws itself.
func (e *editor) drawn() {
	if e.shell.Keys.Empty() && e.shell.Keymap.Local() == "" && e.held.any() { // not within a menu or a sequence of keys
		e.shell.Keys.Feed(false, showHeldKey)
	}
}

func (e *editor) showHeld() {
	e.shell.History.SkipSave()
	if text := e.held.take(); text != "" {
		_, _ = e.shell.PrintTransientf("%s%s\x1b[A", text, room) // which ends the line itself
	}
}

// roomRows stay free below the prompt: the editor does not ask where on the screen
// it is, and draws menus and further lines there.
const roomRows = 6

var room = strings.Repeat("\n", roomRows) + fmt.Sprintf("\x1b[%dA", roomRows)

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
	if !slices.ContainsFunc(candidates, func(c readline.Completion) bool { return !strings.HasSuffix(c.Value, "/") }) {
		return list.NoSpace('/') // which would cut the last letter of anything else
	}
	return list
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
			value := text[blank:s.GetStart()] + s.GetReplacement()
			if typed := text[blank:cursor]; len(value) < len(typed) || !strings.EqualFold(value[:len(typed)], typed) {
				hints = append(hints, s.GetReplacement()) // a name that needs quotes: the editor goes on from what was typed only
				continue
			}
			list = append(list, readline.Completion{Value: value, Display: s.GetDisplay(), Description: s.GetDetail(), Tag: s.GetKind()})
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

// terminals reports whether both ends are a terminal.
func (t *terminal) terminals() bool {
	out, ok := t.out.(*os.File)
	return ok && t.interactive() && term.IsTerminal(int(out.Fd())) && t.in == os.Stdin && out == os.Stdout
}
