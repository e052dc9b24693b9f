package sim

import (
	"math/bits"
	"time"

	"plexus/primitives"
)

// Clock is a host's clock: a monotonic counter that may run fast or slow, and a
// wall clock that follows it from an offset that may jump.
type Clock struct {
	sim  *Simulation
	host *Host
	// The counter showed local at virtual time start and runs at 1+drift since.
	start, local int64
	driftPPM     int64
	wall         int64 // wall time minus counter, in Unix nanoseconds
	lateness     time.Duration
	late         *Stream
}

func (c *Clock) init(h *Host) {
	c.sim, c.host = h.sim, h
	c.late = NewStream(h.sim.opts.Seed, "clock/"+h.name)
	// Counters of different machines have nothing in common.
	c.start, c.local = h.sim.now, int64(time.Second)+int64(c.late.Below(uint64(time.Hour)))
	c.wall = h.sim.opts.Epoch.UnixNano() + h.sim.now - c.local
}

// scale returns d*(1e6+ppm)/1e6.
func scale(d, ppm int64) int64 {
	if ppm == 0 {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), uint64(1_000_000+ppm))
	q, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(q)
}

// unscale returns the smallest d with scale(d) >= local.
func unscale(local, ppm int64) int64 {
	if ppm == 0 {
		return local
	}
	hi, lo := bits.Mul64(uint64(local), 1_000_000)
	lo, carry := bits.Add64(lo, uint64(1_000_000+ppm)-1, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(1_000_000+ppm))
	return int64(q)
}

func (c *Clock) now() int64 { return c.local + scale(c.sim.now-c.start, c.driftPPM) }

// virtual returns when the counter shows at, never if that is too far away.
func (c *Clock) virtual(at primitives.Instant) int64 {
	ahead := int64(at) - c.local
	if ahead <= 0 {
		return c.sim.now
	}
	if ahead > int64(farAway) {
		return int64(primitives.Never)
	}
	return max(c.start+unscale(ahead, c.driftPPM), c.sim.now)
}

// farAway is longer than any run; instants beyond it never come.
const farAway = 100 * 365 * 24 * time.Hour

// Now returns the monotonic counter.
func (c *Clock) Now() primitives.Instant { return primitives.Instant(c.now()) }

// Wall returns the wall clock.
func (c *Clock) Wall() time.Time { return time.Unix(0, c.wall+c.now()).UTC() }

// Jump moves the wall clock by d, in either direction.
func (c *Clock) Jump(d time.Duration) { c.wall += int64(d) }

// SetDrift makes the counter, and the wall clock with it, gain that many
// microseconds per second from now on. It must stay above -1,000,000.
func (c *Clock) SetDrift(ppm int64) {
	c.local, c.start = c.now(), c.sim.now
	c.driftPPM = ppm
}

// SetLateness makes every callback armed from now on late by up to d.
func (c *Clock) SetLateness(d time.Duration) { c.lateness = d }

// Clock implements primitives.World.
func (p *Process) Clock() primitives.Clock { return (*clock)(p) }

// clock is a process as primitives.Clock.
type clock Process

func (p *clock) Now() primitives.Instant { return p.host.clock.Now() }
func (p *clock) Wall() time.Time         { return p.host.clock.Wall() }

func (p *clock) At(at primitives.Instant, f func()) primitives.Timer {
	a := &alarm{process: (*Process)(p), at: at, f: f}
	a.run, a.owner = a, a.process
	if !p.dead {
		a.arm()
	}
	return a
}

// alarm is one callback that product code armed.
type alarm struct {
	timer
	process *Process
	at      primitives.Instant
	f       func()
}

func (a *alarm) arm() {
	c := &a.process.host.clock
	at := c.virtual(a.at)
	if at == int64(primitives.Never) {
		return
	}
	if c.lateness > 0 {
		at += c.late.Between(0, int64(c.lateness))
	}
	a.process.sim.timers.arm(&a.timer, at)
}

func (a *alarm) fire() {
	if a.process.host.clock.Now() < a.at {
		a.arm() // the clock was slowed down meanwhile
		return
	}
	f := a.f
	a.f = nil
	f()
}

// Stop disarms the alarm and reports whether it did so before f started.
func (a *alarm) Stop() bool {
	if a.f == nil || a.process.dead {
		return false
	}
	a.f = nil
	if a.armed() {
		a.process.sim.timers.disarm(&a.timer)
	} else {
		a.process.forget(&a.timer)
	}
	return true
}

var _ primitives.Clock = (*clock)(nil)
