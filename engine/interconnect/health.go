package interconnect

import (
	"time"

	"plexus/primitives"
)

// Availability is what is to be thought of a peer. Only Unreachable removes it
// from the live set.
type Availability uint8

// The values of Availability.
const (
	Unknown     Availability = iota // nothing recent is known
	Available                       // it answered a moment ago
	Unreachable                     // it has not answered for long
)

var availabilityNames = [...]string{"unknown", "available", "unavailable"}

func (a Availability) String() string { return availabilityNames[a] }

// observation is the outcome of one probe.
type observation uint8

const (
	observedHealthy  observation = iota + 1
	observedFailure              // it did not answer as the process it should be
	observedCapacity             // no room here: says nothing about the peer
)

// health turns observations of one peer into its availability.
type health struct {
	last    observation
	at      primitives.Instant // of last
	failing primitives.Instant // the first failure since the last healthy one
	failed  primitives.Instant // the newest failure
	broken  bool               // failing is set

	effective Availability
	since     primitives.Instant
}

// observe notes the outcome of a probe.
func (h *health) observe(o observation, now primitives.Instant) {
	h.last, h.at = o, now
	switch o {
	case observedHealthy:
		h.broken = false
	case observedFailure:
		if !h.broken {
			h.broken, h.failing = true, now
		}
		h.failed = now
	}
}

// judge returns the availability now, given how long failures must last.
func (h *health) judge(now primitives.Instant, timeout time.Duration) Availability {
	fresh := func(at primitives.Instant) bool { return now.Sub(at) <= observationFresh }
	switch {
	case h.last == 0:
		return Unknown
	case h.broken && fresh(h.failed) && now.Sub(h.failing) >= timeout:
		return Unreachable
	case h.last == observedHealthy && fresh(h.at):
		return Available
	}
	return Unknown
}

// update judges and reports whether the availability changed. A process that said
// it is at its end needs no proof of it.
func (h *health) update(now primitives.Instant, timeout time.Duration, departed bool) bool {
	a := h.judge(now, timeout)
	if departed {
		a = Unreachable
	}
	if a == h.effective {
		return false
	}
	h.effective, h.since = a, now
	return true
}
