// Package redis is a model of a Redis server as a publisher meets it, and the
// driver that reaches it from inside the simulation.
//
// A channel keeps nothing: the ledger holds what PUBLISH handed to subscribers,
// and an event Dropped for what a failover swallowed.
//
//	K1  Commands of one connection are executed and answered in order.
//	K2  A PUBLISH is executed before it is answered.
package redis
