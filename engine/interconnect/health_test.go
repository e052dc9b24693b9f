package interconnect

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// TestAvailabilityProperty compares the core with the table of the specification,
// read over the whole history.
func TestAvailabilityProperty(t *testing.T) {
	type seen struct {
		what observation
		at   primitives.Instant
	}
	const timeout = 10 * time.Second
	model := func(history []seen, now primitives.Instant) Availability {
		if len(history) == 0 {
			return Unknown
		}
		last := history[len(history)-1]
		if last.what == observedHealthy && now.Sub(last.at) <= observationFresh {
			return Available
		}
		var first, newest primitives.Instant
		failures := 0
		for i := len(history) - 1; i >= 0 && history[i].what != observedHealthy; i-- {
			if history[i].what == observedFailure {
				if failures == 0 {
					newest = history[i].at
				}
				first = history[i].at
				failures++
			}
		}
		if failures > 0 && now.Sub(newest) <= observationFresh && now.Sub(first) >= timeout {
			return Unreachable
		}
		return Unknown
	}
	rapid.Check(t, func(r *rapid.T) {
		var h health
		var history []seen
		now := primitives.Instant(0)
		for range rapid.IntRange(0, 60).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(r, "pause")) * time.Millisecond)
			if o := observation(rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(r, "observation")); o != 0 {
				h.observe(o, now)
				history = append(history, seen{o, now})
			}
			if got, want := h.judge(now, timeout), model(history, now); got != want {
				r.Fatalf("after %v at %d: %s, want %s", history, now, got, want)
			}
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	for name, c := range map[string]struct { //plexus:orderfree independent cases
		edit func(*Settings)
		text string
	}{
		"the defaults":         {func(*Settings) {}, ""},
		"another machine":      {func(s *Settings) { s.Listen = netip.MustParseAddrPort("10.0.0.1:1") }, "--interconnect-insecure"},
		"every address":        {func(s *Settings) { s.Listen = netip.MustParseAddrPort("0.0.0.0:1") }, "--interconnect-insecure"},
		"advertised elsewhere": {func(s *Settings) { s.Advertise = "n1.example:1" }, "--interconnect-insecure"},
		"advertised loopback":  {func(s *Settings) { s.Advertise = "localhost:1" }, ""},
		"an address":           {func(s *Settings) { s.Advertise = "[::1]:1" }, ""},
		"insecure":             {func(s *Settings) { s.Advertise = "n1.example:1"; s.Insecure = true }, ""},
		"no port":              {func(s *Settings) { s.Advertise = "localhost" }, "expected host:port"},
		"no address":           {func(s *Settings) { s.Listen = netip.AddrPort{} }, "no address"},
		"a short timeout":      {func(s *Settings) { s.UnavailableAfter = time.Millisecond }, "node-unavailability-timeout"},
	} {
		s := Defaults()
		c.edit(&s)
		err := s.Check()
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if c.text == "--interconnect-insecure" && !errors.Is(err, ErrInsecure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLimitsFitTogether holds the numbers to the relations between them.
func TestLimitsFitTogether(t *testing.T) {
	relay := int64(messageMax[Relay] + RelayDecodedMax + RelayScratchMax)
	if memoryRelay < 2*relay {
		t.Errorf("the relay memory of %d holds no two deliveries of %d", memoryRelay, relay)
	}
	if memoryCommands < messageMax[Replication]*laneStreams[Replication][LaneAppend]+messageMax[Commands] {
		t.Error("the memory of commands and replication holds no window and one message")
	}
	if sum := memoryManagement + memoryCommands + memoryRelay + memoryBulk; sum > 275<<20 {
		t.Errorf("%d bytes of memory", sum)
	}
	total := 0
	for class, n := range connections {
		total += n
		streams := 0
		for _, k := range laneStreams[class] {
			streams += k
		}
		want := [classCount]int{Management: 64, Commands: 32, Replication: 8, Relay: 64, Bulk: 4}[class]
		if streams != want {
			t.Errorf("class %s has %d streams, want %d", Class(class), streams, want)
		}
	}
	if 2*total*PeersMax > connectionsMax {
		t.Errorf("%d connections for a full cluster", 2*total*PeersMax)
	}
	names := map[string]bool{}
	for op := range Operations() {
		if names[op.String()] || op.Idempotence() == "" || laneStreams[op.Class()][op.Lane()] == 0 {
			t.Errorf("operation %s of class %s in lane %s", op, op.Class(), op.Lane())
		}
		if op.MessageMax() > messageMax[op.Class()] || op.AnswerMax() > messageMax[op.Class()] || op.Within() == 0 {
			t.Errorf("operation %s has other limits than its class", op)
		}
		names[op.String()] = true
	}
}
