// Package redis joins Redis to the data plane: a channel as a sink, over a pool
// of connections that every emitter of a client on the node shares.
//
// A [Driver] only translates: real/drivers/redis over go-redis, and
// sim/brokers/redis over a model of the server.
//
//	D1  Records are published one after another: a record that has to be retried
//	    is never overtaken by the next.
//	D2  A reply counts, the number of subscribers does not.
package redis
