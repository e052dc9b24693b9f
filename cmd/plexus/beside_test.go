package main

import (
	"fmt"
	"strings"
	"testing"

	"plexus/real"
)

func TestHeldLines(t *testing.T) {
	h := newHeldLines(real.NewWorld(real.Options{}))
	woken := 0
	h.wake = func() { woken++ }
	if h.any() || h.take() != "" {
		t.Error("something is held at first")
	}
	fmt.Fprintf(h, "[rows] a\n[rows] b\x1b[2J\n")
	if !h.any() || woken != 1 {
		t.Errorf("any %v, woken %d", h.any(), woken)
	}
	if got := h.take(); got != "[rows] a\n[rows] b\ufffd[2J\n" || h.any() {
		t.Errorf("%q", got)
	}
	for i := range heldLinesMax + 10 {
		fmt.Fprintf(h, "%d\n", i)
	}
	if got := h.take(); !strings.HasPrefix(got, "[... 10 lines omitted]\n10\n11\n") || strings.Count(got, "\n") != heldLinesMax+1 {
		t.Errorf("%.60q", got)
	}
	fmt.Fprintf(h, "%s\n", strings.Repeat("ä", heldBytesMax))
	if got := h.take(); len(got) > lineBytesMax+40 || !strings.HasSuffix(got, "bytes more)\n") {
		t.Errorf("%d bytes", len(got))
	}
}
