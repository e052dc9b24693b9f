// Package session serves the session protocol, independent of what carries it:
// the socket binding of frames.go and the HTTP binding of real/http call the same
// [Service].
//
// A session is the life of its Open call. Execute, Attach and Close of one session
// run in arrival order; reads of other sessions run beside them. What only reads is
// answered by every node from its applied state; everything else by the leader, and
// other nodes redirect.
//
//	N1  One terminal reply per request.
//	N2  Opened precedes the rows of a subscription, and no row follows Ended.
//	N3  A call that is cancelled before its command was admitted leaves no trace.
//	N4  Passwords and sensitive values reach no reply, log or frame.
//	N5  A request that fails applied nothing, except the earlier steps of a
//	    transaction whose later step failed, and says so.
//	N6  A request that belongs to a transaction is never executed outside it.
//	N7  What a leader admitted is finished by it or by a later one, once, and then
//	    holds no lease.
//
// A tenure is one uninterrupted leadership: it knows which session holds which
// transaction and which commands are under way, and goes on with what the replicated
// state says is unfinished. Commands are planned by engine/transaction and carried
// out in phases: admission, hold, effect, completion barrier, outcome.
//
// The package imports control, decide, transaction, catalog, flow and nspl; it never
// imports a connector, host or net/http.
package session
