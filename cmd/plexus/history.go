package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// historyLinesMax is how many lines the history keeps.
const historyLinesMax = 1000

// secretStatement recognises statements that may hold secrets; they are not
// remembered.
var secretStatement = regexp.MustCompile(`(?i)\b(PASSWORD|CONFIG)\b`)

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
		h.lines = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
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
	_ = os.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
}

// Add implements term.History.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || secretStatement.MatchString(line) {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > historyLinesMax {
		h.lines = h.lines[len(h.lines)-historyLinesMax:]
	}
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
