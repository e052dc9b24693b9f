package nats

import (
	"slices"
	"time"

	"plexus/sim/brokers"
)

// codeInsufficientResources is a JetStream error that passes by itself.
const codeInsufficientResources = 10023

// faults is what currently goes wrong.
type faults struct {
	leaderless    brokers.Until // no stream and no consumer answers
	noResponders  brokers.Until // publishes to streams find nobody
	streamError   brokers.Until
	loginsRefused brokers.Until
	silent        brokers.Until // nothing is written to any connection
	loseAnswers   brokers.Some  // publish and acknowledgement answers
	refuse        brokers.Some  // awaited publishes, for their size
	drop          brokers.Some  // core messages, as a slow consumer would
}

func newFaults(now func() time.Duration) faults {
	u := brokers.NewUntil(now)
	return faults{leaderless: u, noResponders: u, streamError: u, loginsRefused: u, silent: u}
}

// Verbs lists everything that can go wrong with this server.
func (b *Broker) Verbs() []brokers.Verb {
	return []brokers.Verb{
		{Class: "nats/drop-connections", Apply: func(time.Duration, int) { b.DropConnections() }},
		{Class: "nats/refuse-logins", Lasts: true, Apply: func(d time.Duration, _ int) { b.RefuseLogins(d) }, Heal: b.faults.loginsRefused.Stop},
		{Class: "nats/silence", Lasts: true, Apply: func(d time.Duration, _ int) { b.Silence(d) }, Heal: b.endSilence},
		{Class: "nats/lose-answers", Counts: true, Apply: func(_ time.Duration, n int) { b.LoseAnswers(n) }, Heal: b.faults.loseAnswers.Stop},
		{Class: "nats/no-responders", Lasts: true, Apply: func(d time.Duration, _ int) { b.NoResponders(d) }, Heal: b.faults.noResponders.Stop},
		{Class: "nats/stream-error", Lasts: true, Apply: func(d time.Duration, _ int) { b.StreamError(d) }, Heal: b.faults.streamError.Stop},
		{Class: "nats/refuse-size", Counts: true, Apply: func(_ time.Duration, n int) { b.RefuseSizes(n) }, Heal: b.faults.refuse.Stop},
		{Class: "nats/leader-change", Lasts: true, Apply: func(d time.Duration, _ int) { b.ChangeLeader(d) }, Heal: b.electLeader},
		{Class: "nats/ack-wait-expiry", Apply: func(time.Duration, int) { b.ExpireAckWaits() }},
		{Class: "nats/pull-expiry", Apply: func(time.Duration, int) { b.ExpirePulls() }},
		{Class: "nats/forget-duplicates", Apply: func(time.Duration, int) { b.ForgetDuplicates() }},
		{Class: "nats/slow-consumer", Counts: true, Apply: func(_ time.Duration, n int) { b.DropMessages(n) }, Heal: b.faults.drop.Stop},
		{Class: "nats/recreate-consumers", Apply: func(time.Duration, int) { b.RecreateConsumers() }},
	}
}

// DropConnections closes every connection.
func (b *Broker) DropConnections() {
	for _, s := range slices.Clone(b.sessions) {
		s.close()
	}
}

// RefuseLogins refuses credentials for a while; open connections stay.
func (b *Broker) RefuseLogins(d time.Duration) { b.faults.loginsRefused.Extend(d) }

// Silence keeps everything the server has to say for a while.
func (b *Broker) Silence(d time.Duration) {
	b.faults.silent.Extend(d)
	b.sim.After(b.faults.silent.Left(), b.speak)
}

func (b *Broker) endSilence() {
	b.faults.silent.Stop()
	b.speak()
}

// speak lets every session write what it kept.
func (b *Broker) speak() {
	for _, s := range b.sessions {
		s.wake.Raise()
	}
}

// LoseAnswers keeps the next answers to publishes and acknowledgements for good:
// what they would have said has happened.
func (b *Broker) LoseAnswers(n int) { b.faults.loseAnswers += brokers.Some(n) }

// NoResponders lets publishes to streams find nobody for a while.
func (b *Broker) NoResponders(d time.Duration) { b.faults.noResponders.Extend(d) }

// StreamError answers publishes with an error that passes.
func (b *Broker) StreamError(d time.Duration) { b.faults.streamError.Extend(d) }

// RefuseSizes answers the next awaited publishes as too large for their stream,
// for good.
func (b *Broker) RefuseSizes(n int) { b.faults.refuse += brokers.Some(n) }

// ChangeLeader ends every pull and leaves streams and consumers without a leader
// for a while: acknowledgements of that time are lost.
func (b *Broker) ChangeLeader(d time.Duration) {
	b.faults.leaderless.Extend(d)
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.endPulls(pullLeaderChange)
		}
	}
	b.sim.After(b.faults.leaderless.Left(), b.deliver)
}

func (b *Broker) electLeader() {
	b.faults.leaderless.Stop()
	b.deliver()
}

// deliver lets every consumer give what it kept.
func (b *Broker) deliver() {
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.deliver()
		}
	}
}

// ExpireAckWaits lets the acknowledgement wait of every pending message end now:
// it is delivered again although its consumer works on it.
func (b *Broker) ExpireAckWaits() {
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.expire(b.now().Add(c.config.AckWait))
			c.deliver()
		}
	}
}

// ExpirePulls ends every waiting pull.
func (b *Broker) ExpirePulls() {
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.endPulls(pullExpired)
		}
	}
}

// ForgetDuplicates empties the duplicate window of every stream.
func (b *Broker) ForgetDuplicates() {
	for _, s := range b.streams {
		s.recent = nil
		clear(s.ids)
	}
}

// DropMessages loses the next messages of core subjects on their way to a
// subscriber.
func (b *Broker) DropMessages(n int) { b.faults.drop += brokers.Some(n) }

// RecreateConsumers deletes every consumer and creates it again where it had
// finished: what was pending is delivered anew.
func (b *Broker) RecreateConsumers() {
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.endPulls(pullConsumerDeleted)
			c.forget()
		}
	}
}
