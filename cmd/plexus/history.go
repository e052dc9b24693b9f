package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plexus/nspl/ast"
)

// historyLinesMax is how many lines the history keeps.
const historyLinesMax = 1000

// history holds the lines of earlier conversations, newest last.
type history struct {
	file  string
	lines []string
}

// loadHistory reads the history; without a readable file it is empty.
func loadHistory() *history {
	h := &history{}
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return h
		}
		state = filepath.Join(home, ".local", "state")
	}
	h.file = filepath.Join(state, "plexus", "history")
	if text, err := os.ReadFile(h.file); err == nil {
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if whole, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
				line = whole
			}
			h.lines = append(h.lines, line)
		}
	}
	return h
}

// save writes the history for its owner only. It is a convenience: a failure
// loses nothing but it.
func (h *history) save() {
	if h.file == "" || len(h.lines) == 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return
	}
	var text strings.Builder
	for _, line := range h.lines {
		if strings.ContainsAny(line, "\r\n") {
			line = strconv.Quote(line) // no statement begins with a quote
		}
		text.WriteString(line + "\n")
	}
	if os.WriteFile(h.file, []byte(text.String()), 0o600) == nil {
		_ = os.Chmod(h.file, 0o600) // it may be older than this rule
	}
}

// errNoLine says that the history has no such line.
var errNoLine = errors.New("no such line")

// Write implements readline.History. Statements that may hold a secret are not
// remembered, and one that is repeated is remembered once.
func (h *history) Write(line string) (int, error) {
	line = strings.TrimRight(line, " \t\r\n")
	again := len(h.lines) > 0 && h.lines[len(h.lines)-1] == line
	if line == "" || again || ast.MayHoldSecrets(line) {
		return len(h.lines), nil
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > historyLinesMax {
		h.lines = h.lines[len(h.lines)-historyLinesMax:]
	}
	return len(h.lines), nil
}

// GetLine implements readline.History: 0 is the oldest line.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.lines) {
		return "", errNoLine
	}
	return h.lines[i], nil
}

// Len implements readline.History.
func (h *history) Len() int { return len(h.lines) }

// Dump implements readline.History.
func (h *history) Dump() any { return h.lines }
