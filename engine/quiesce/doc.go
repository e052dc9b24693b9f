// Package quiesce holds a part of a cluster still while a change takes effect: on
// every live node the admission gates of the scope close and its sources pause,
// until what was admitted has come to rest, the change was made, and the gates
// open again.
//
// A hold has one coordinator, the leader's process, and a participant on every
// node. Both are step cores that compute, and thin tasks that ask, wait and close
// gates. [Peers] carries requests, [Local] reaches the running domains.
//
//	Q1  While a lease lives, its gates are closed: no other lease, request or
//	    deadline opens them.
//	Q2  A lease that ended opens its gates, whatever became of the coordinator.
//	    The loss of a coordinator ends no lease.
//	Q3  A hold is known by coordinator process and sequence, and bound to its
//	    scope. The same identity with another scope is refused, and so is an
//	    identity that the authenticated process does not own.
//	Q4  A hold that was released, or whose lease ended, never closes a gate again,
//	    however late a request of it arrives.
//	Q5  At rest means: two flush generations in a row ended with nothing visible on
//	    any node, and nothing was admitted between the two looks.
//	Q6  Whatever happens, the coordinator asks everyone it asked to engage to
//	    release.
//
// The package imports primitives and the vocabulary. It never imports flow,
// control, interconnect, handoff, real or sim.
package quiesce
