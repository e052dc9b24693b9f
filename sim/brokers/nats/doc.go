// Package nats is a model of a NATS server with JetStream, and the driver that
// reaches it from inside the simulation.
//
// The server keeps streams and durable pull consumers as a replicated cluster
// would: they survive its process. Core subjects, queue groups, subscriptions and
// pull requests live with their connection.
//
//	J1  A message is stored before its publish is answered.
//	J2  A delivery stays pending until it is acknowledged, or its last delivery
//	    was used up; it is given again when its wait is over or it was rejected.
//	J3  A consumer never has more than max_ack_pending messages pending.
//	J4  A publish with a Nats-Msg-Id seen within the duplicate window stores
//	    nothing and is answered as a duplicate.
package nats
