// Package session serves the session protocol, independent of what carries it:
// the socket binding of frames.go and the HTTP binding of real/http call the same
// [Service].
//
// A session is the life of its Open call. Execute and Close of one session run in
// arrival order; reads of other sessions run beside them.
//
//	N1  One terminal reply per request.
//	N2  Opened precedes the rows of a subscription, and no row follows Ended.
//	N3  A call that is cancelled before its command was admitted leaves no trace.
//	N4  Passwords and sensitive values reach no reply, log or frame.
//	N5  A statement that fails applied nothing, except the earlier steps of a
//	    transaction whose later step was refused.
//
// A transaction is a queue held by the session and applied as one command. The
// package imports control, decide, catalog, flow and nspl; it never imports a
// connector, host or net/http.
package session
