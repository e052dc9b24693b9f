// Package interconnect carries everything that nodes say to each other.
//
// A [Mesh] keeps connections with every peer of the replicated state, one listener
// for all of them, and serves the operations of the catalogue (operations.go).
// Traffic is divided into classes with connections, limits and memory of their
// own, so that none keeps another waiting. An exchange is an event, a request, a
// transfer or a duplex [Stream]; its failure is a typed [Refusal] of the handler or
// a [TransportError], which says nothing about whether the operation ran.
//
// Invariants:
//
//	W1  No byte of an operation is accepted from a process whose identity was not
//	    checked against its certificate, the cluster and the replicated members.
//	W2  A connection is with one process in one class for its whole life.
//	W3  A sender never exceeds the credit of stream and connection; a receiver
//	    grants more only for bytes that are taken and charged.
//	W4  Every exchange that was begun ends: by its answer, a refusal, a reset, its
//	    deadline or the loss of the connection.
//	W5  Bytes from a peer cost at most the windows and the memory of their class,
//	    whatever they say.
//	W6  Messages of a stream, and ordered events of a connection, arrive in the
//	    order of sending.
//	W7  Announcements of a peer never go back.
//
// Frames, windows, setup checks and health are pure cores; around them is one
// reading and one writing task per connection. The package imports primitives,
// engine/observe and protobuf, never another package of the engine.
package interconnect
