package redis

import (
	"slices"
	"time"

	"plexus/sim/brokers"
)

// Verbs lists everything that can go wrong with this server.
func (b *Broker) Verbs() []brokers.Verb {
	return []brokers.Verb{
		{Class: "redis/drop-connections", Apply: func(time.Duration, int) { b.DropConnections() }},
		{Class: "redis/refuse-logins", Lasts: true, Apply: func(d time.Duration, _ int) { b.RefuseLogins(d) }, Heal: b.loginsRefused.Stop},
		{Class: "redis/silence", Lasts: true, Apply: func(d time.Duration, _ int) { b.Silence(d) }, Heal: b.silent.Stop},
		{Class: "redis/lose-answers", Counts: true, Apply: func(_ time.Duration, n int) { b.LoseAnswers(n) }, Heal: b.loseAnswers.Stop},
		{Class: "redis/failover", Lasts: true, Apply: func(d time.Duration, _ int) { b.Failover(d) }, Heal: b.readOnly.Stop},
		{Class: "redis/oom", Lasts: true, Apply: func(d time.Duration, _ int) { b.OutOfMemory(d) }, Heal: b.oom.Stop},
		{Class: "redis/loading", Lasts: true, Apply: func(d time.Duration, _ int) { b.Loading(d) }, Heal: b.loading.Stop},
		{Class: "redis/refuse-size", Counts: true, Apply: func(_ time.Duration, n int) { b.RefuseSizes(n) }, Heal: b.refuse.Stop},
		{Class: "redis/subscriber-gap", Counts: true, Apply: func(_ time.Duration, n int) { b.Swallow(n) }, Heal: b.swallow.Stop},
	}
}

// DropConnections closes every connection.
func (b *Broker) DropConnections() {
	for _, s := range slices.Clone(b.sessions) {
		s.conn.Close()
	}
}

// RefuseLogins refuses credentials for a while; open connections stay.
func (b *Broker) RefuseLogins(d time.Duration) { b.loginsRefused.Extend(d) }

// Silence keeps the replies of a while until it is over.
func (b *Broker) Silence(d time.Duration) { b.silent.Extend(d) }

// LoseAnswers closes the connection instead of answering, for the next publishes.
func (b *Broker) LoseAnswers(n int) { b.loseAnswers += brokers.Some(n) }

// Failover closes every connection and answers READONLY for a while.
func (b *Broker) Failover(d time.Duration) {
	b.readOnly.Extend(d)
	b.DropConnections()
}

// OutOfMemory answers OOM for a while.
func (b *Broker) OutOfMemory(d time.Duration) { b.oom.Extend(d) }

// Loading answers LOADING for a while.
func (b *Broker) Loading(d time.Duration) { b.loading.Extend(d) }

// RefuseSizes answers the next publishes as too large, for good.
func (b *Broker) RefuseSizes(n int) { b.refuse += brokers.Some(n) }

// Swallow loses the next messages behind their reply: no subscriber was connected.
func (b *Broker) Swallow(n int) { b.swallow += brokers.Some(n) }
