package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"plexus/primitives"
)

// The bounds of what is held until the prompt can show it.
const (
	heldLinesMax = 128
	heldBytesMax = 1 << 20
	lineBytesMax = 8 << 10
)

// heldLines keeps lines that arrive beside replies, such as rows of subscriptions,
// until the one task that writes to the terminal takes them. Too many leave out the
// oldest, and say so.
type heldLines struct {
	lock    *primitives.Mutex
	lines   []string
	bytes   int
	omitted int
	wake    func() // tells the prompt that something is held
}

func newHeldLines(w primitives.World) *heldLines {
	return &heldLines{lock: primitives.NewMutex(w), wake: func() {}}
}

// Write implements io.Writer. Each write ends with a whole line.
func (h *heldLines) Write(p []byte) (int, error) {
	if err := h.lock.Lock(context.Background()); err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(p)) {
		line = shortened(printable(strings.TrimRight(line, "\r\n")))
		h.lines, h.bytes = append(h.lines, line), h.bytes+len(line)
	}
	for len(h.lines) > heldLinesMax || h.bytes > heldBytesMax {
		h.bytes -= len(h.lines[0])
		h.lines = h.lines[1:]
		h.omitted++
	}
	h.lock.Unlock()
	h.wake()
	return len(p), nil
}

// any reports whether lines are held.
func (h *heldLines) any() bool {
	_ = h.lock.Lock(context.Background()) // short
	defer h.lock.Unlock()
	return len(h.lines) > 0
}

// take returns what is held and holds it no more.
func (h *heldLines) take() string {
	_ = h.lock.Lock(context.Background()) // short
	defer h.lock.Unlock()
	var b strings.Builder
	if h.omitted > 0 {
		fmt.Fprintf(&b, "[... %d lines omitted]\n", h.omitted)
	}
	for _, line := range h.lines {
		b.WriteString(line + "\n")
	}
	h.lines, h.bytes, h.omitted = nil, 0, 0
	return b.String()
}

// print writes what is held.
func (h *heldLines) print(out io.Writer) { fmt.Fprint(out, h.take()) }

// printable takes out what a terminal would act upon.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, line)
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
