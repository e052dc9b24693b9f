// Package redis is the go-redis side of the Redis connector's driver port.
//
// Every pooled connection is a client of its own that may dial once: a client
// that redials by itself would hide a lost connection from the pool. Retries,
// identity and maintenance notifications of the library are off.
package redis
