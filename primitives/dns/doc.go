// Package dns is the node's own name resolver: configuration as the C library
// reads it, a snapshot of the hosts file, A and AAAA questions over UDP and TCP
// on the sockets of a World, and a cache.
//
//	D1  An address or a name of the hosts file never causes a question.
//	D2  At most lookupsMax lookups are past the hosts file at once; waiting for
//	    a place counts against the deadline.
//	D3  No answer is used beyond its time to live, and none for longer than
//	    positiveTTLMax or negativeTTLMax.
//	D4  A lookup leaves no task and no socket behind when it returns.
//
// Nothing falls back to the operating system's resolver, to a public one, or to
// localhost. Answers are not authenticated; TLS identity protects a connection.
//
// The package imports primitives and the wire format of miekg/dns, whose client
// and server are not used.
package dns
