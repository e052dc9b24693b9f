package brokers

import "time"

// Verb is one way in which an external system misbehaves. A fault plan holds its
// class, a time and two numbers; applying it is all it takes (B2).
type Verb struct {
	Class string // "nats/leader-change"
	// Lasts says that Apply uses a duration, Counts that it uses an amount; what a
	// verb does not use is zero.
	Lasts, Counts bool
	Apply         func(duration time.Duration, amount int)
	// Heal ends what Apply left behind; nil where nothing is left.
	Heal func()
}

// Until is a condition that ends by itself. The zero value has ended.
type Until struct {
	now func() time.Duration
	end time.Duration
}

// NewUntil returns a condition that reads virtual time from now.
func NewUntil(now func() time.Duration) Until { return Until{now: now} }

// Extend makes the condition hold for at least d from now.
func (u *Until) Extend(d time.Duration) { u.end = max(u.end, u.now()+d) }

// Stop ends the condition.
func (u *Until) Stop() { u.end = 0 }

// Holds reports whether the condition holds.
func (u *Until) Holds() bool { return u.now() < u.end }

// Left returns how long it still holds.
func (u *Until) Left() time.Duration { return max(u.end-u.now(), 0) }

// Some is a number of things that still have to go wrong.
type Some int

// Stop forgets what is left.
func (s *Some) Stop() { *s = 0 }

// Take uses one up and reports whether there was one.
func (s *Some) Take() bool {
	if *s == 0 {
		return false
	}
	*s--
	return true
}

// HealAll ends everything the verbs of a system left behind.
func HealAll(verbs []Verb) {
	for _, v := range verbs {
		if v.Heal != nil {
			v.Heal()
		}
	}
}
