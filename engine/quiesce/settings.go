package quiesce

import (
	"errors"
	"time"
)

// Settings are the bounds of holds.
type Settings struct {
	Timeout time.Duration // wait for admitted work; --quiesce-timeout
	Lease   time.Duration // a gate stays closed without its coordinator; --gate-lease
	Request time.Duration // engage, release and status
	Poll    time.Duration // between looks at the outstanding work
}

// Defaults returns the settings of the specification.
func Defaults() Settings {
	return Settings{Timeout: time.Minute, Lease: time.Minute, Request: 10 * time.Second, Poll: 50 * time.Millisecond}
}

// leaseMin keeps a lease long enough for its renewals.
const leaseMin = time.Second

// Check refuses contradictory settings.
func (s *Settings) Check() error {
	if s.Lease < leaseMin {
		return errors.New("gate-lease must be at least 1s")
	}
	return nil
}

// renewAfter is the age at which a lease is renewed: more attempts fit before
// the coordinator stops to trust it.
func (s *Settings) renewAfter() time.Duration { return s.Lease / 4 }

// trusted is how long a coordinator relies on a lease, counted from its request.
// The participant counts from the request's arrival, and on its own clock; half a
// lease covers clocks of which one runs almost twice as fast as the other.
func (s *Settings) trusted() time.Duration { return s.Lease / 2 }
