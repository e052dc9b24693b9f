// Package contract is the boundary between the data plane and the connectors:
// the interfaces a connector implements, the values that cross, and the rules
// that every connector of a family shares.
//
// The host drives connectors; a connector never starts work on its own.
//
//	C1  One host task calls the methods of one source instance or one sink, one
//	    at a time. The only concurrent event is cancellation of the context.
//	C2  A context carries cancellation only. A deadline is a primitives.Instant.
//	C3  What a publish does not answer is unresolved: the host keeps it and
//	    offers it again, byte for byte.
//	C4  A connector decides nothing about routes, branches, errors or retry
//	    times. It answers; the host acts.
//	C5  An error says what failed and wraps its cause; no text of this boundary
//	    holds a payload, a header value, a target or a credential.
//
// It imports the standard library, the vocabulary and primitives. It never
// imports engine, a concrete connector, real, sim or a driver.
package contract
