// Package client is the session protocol from the client's side: one session over
// the servers of a cluster, with references, retries, redirects and reconnects by
// the protocol's rules. The command line client and the tests use it.
//
//	K1  A client never reports success or failure of a command whose outcome it
//	    does not know: it repeats the same execution reference until it does, or
//	    returns an [UnknownError] that names it.
//	K2  A request of a transaction is sent as one: no server executes it outside,
//	    whatever happened to the session in between.
//	K3  A subscription goes on when its session does, and another Opened frame marks
//	    where rows are missing.
//
// The package imports the protocol messages, nspl and primitives. It never
// imports the engine's server side, so that tools stay small. Properties:
// client_test.go, and engine/node/sessions_test.go with real servers.
package client
