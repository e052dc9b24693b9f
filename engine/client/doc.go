// Package client is the session protocol from the client's side: one session over
// a [Transport], with references, retries and reconnects by the protocol's rules.
// The command line client and the tests use it.
//
// A client never reports success or failure of a command whose outcome it does
// not know: it repeats the same execution reference until it does, or returns an
// [UnknownError] that names it.
//
// The package imports the protocol messages, nspl and primitives. It never
// imports the engine's server side, so that tools stay small.
package client
