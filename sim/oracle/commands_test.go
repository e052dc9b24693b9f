package oracle

import (
	"testing"
	"time"
)

func TestCommandsNeedAnOrder(t *testing.T) {
	const s = time.Second
	play := func(f func(h *Commands)) error {
		h := NewCommands(s)
		f(h)
		return h.Linearizable().Quiet()
	}
	a := func(drop, create int) Command { return Command{"d", drop, create} }
	if err := play(func(h *Commands) {
		h.Begin(1, a(-1, 3), 0)
		h.Begin(2, a(3, 4), 0) // either before or behind the first
		h.End(2, Done, 2*s)
		h.End(1, Done, 2*s)
		h.Begin(1, a(-1, 4), 3*s)
		h.End(1, Exists, 4*s)
		h.Begin(2, a(3, -1), 5*s)
		h.End(2, Missing, 6*s)
	}); err != nil {
		t.Error(err)
	}
	if err := play(func(h *Commands) { // a lost command
		h.Begin(1, a(-1, 3), 0)
		h.End(1, Done, s)
		h.Begin(1, a(3, -1), 2*s)
		h.End(1, Missing, 3*s)
	}); err == nil {
		t.Error("a lost command is no matter")
	}
	if err := play(func(h *Commands) { // applied twice
		h.Begin(1, a(-1, 3), 0)
		h.End(1, Exists, s)
	}); err == nil {
		t.Error("a command that was applied twice is no matter")
	}
	if err := play(func(h *Commands) { // who gave up may have succeeded
		h.Begin(1, a(-1, 3), 0)
		h.Unknown(1)
		h.Begin(2, a(3, -1), 2*s)
		h.End(2, Done, 3*s)
	}); err != nil {
		t.Error(err)
	}
	if err := play(func(h *Commands) { // who was rejected may not
		h.Begin(1, a(-1, 3), 0)
		h.Rejected(1)
		h.Begin(2, a(3, -1), 2*s)
		h.End(2, Done, 3*s)
	}); err == nil {
		t.Error("a rejected command took effect")
	}
	if err := play(func(*Commands) {}); err == nil {
		t.Error("an empty history proves something")
	}
}
