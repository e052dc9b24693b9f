package http

import (
	"time"

	"plexus/sim/brokers"
)

// Verbs lists everything that can go wrong with this server.
func (b *Broker) Verbs() []brokers.Verb {
	return []brokers.Verb{
		{Class: "http/throttle", Lasts: true, Apply: func(d time.Duration, _ int) { b.Throttle(d) }, Heal: b.throttled.Stop},
		{Class: "http/fail", Lasts: true, Apply: func(d time.Duration, _ int) { b.FailRequests(d) }, Heal: b.failing.Stop},
		{Class: "http/unauthorized", Lasts: true, Apply: func(d time.Duration, _ int) { b.RefuseCredentials(d) }, Heal: b.unauthorized.Stop},
		{Class: "http/slow-accept", Lasts: true, Apply: func(d time.Duration, _ int) { b.AcceptSlowly(d) }, Heal: b.slow.Stop},
		{Class: "http/late-head", Lasts: true, Counts: true, Apply: b.AnswerLate, Heal: b.late.Stop},
		{Class: "http/reject", Counts: true, Apply: func(_ time.Duration, n int) { b.Reject(n) }, Heal: b.rejections.Stop},
		{Class: "http/redirect", Counts: true, Apply: func(_ time.Duration, n int) { b.Redirect(n) }, Heal: b.redirects.Stop},
		{Class: "http/reset-after-body", Counts: true, Apply: func(_ time.Duration, n int) { b.ResetAfterBody(n) }, Heal: b.resets.Stop},
		{Class: "http/truncated-head", Counts: true, Apply: func(_ time.Duration, n int) { b.TruncateHeads(n) }, Heal: b.truncations.Stop},
		{Class: "http/oversize-head", Counts: true, Apply: func(_ time.Duration, n int) { b.OversizeHeads(n) }, Heal: b.oversizes.Stop},
		{Class: "http/interim-head", Counts: true, Apply: func(_ time.Duration, n int) { b.SendInterimHeads(n) }, Heal: b.interims.Stop},
	}
}

// Throttle answers 429 for a while, with the rest of it as Retry-After.
func (b *Broker) Throttle(d time.Duration) {
	b.throttled.Extend(d)
	b.retryAfter = d
}

// FailRequests answers 503 for a while.
func (b *Broker) FailRequests(d time.Duration) { b.failing.Extend(d) }

// RefuseCredentials answers 401 for a while.
func (b *Broker) RefuseCredentials(d time.Duration) { b.unauthorized.Extend(d) }

// AcceptSlowly takes no connection for a while.
func (b *Broker) AcceptSlowly(d time.Duration) { b.slow.Extend(d) }

// AnswerLate sends the next heads after a delay.
func (b *Broker) AnswerLate(d time.Duration, n int) {
	b.lateness = d
	b.late += brokers.Some(n)
}

// Reject answers the next requests 422.
func (b *Broker) Reject(n int) { b.rejections += brokers.Some(n) }

// Redirect answers the next requests 302.
func (b *Broker) Redirect(n int) { b.redirects += brokers.Some(n) }

// ResetAfterBody takes the next requests and resets their connections.
func (b *Broker) ResetAfterBody(n int) { b.resets += brokers.Some(n) }

// TruncateHeads ends the connection in the middle of the next heads.
func (b *Broker) TruncateHeads(n int) { b.truncations += brokers.Some(n) }

// OversizeHeads sends heads that are larger than a client has to take.
func (b *Broker) OversizeHeads(n int) { b.oversizes += brokers.Some(n) }

// SendInterimHeads sends a 103 before the next heads.
func (b *Broker) SendInterimHeads(n int) { b.interims += brokers.Some(n) }
