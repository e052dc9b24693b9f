// Package leader does what only the leader of the cluster does beside answering
// commands: it gives the work of lost nodes to others, places what could not be
// placed before, takes the work of nodes that are about to end, and moves work when an
// operator asks for it.
//
// Every duty looks at the replicated state and at what is known of the nodes,
// decides with the pure planners of package decide, and proposes with the prior
// value it saw. A proposal that came too late does nothing, and the duty looks
// again.
//
//	L1  Duties run only while this node leads and has applied what earlier leaders
//	    committed. A proposal of a former leader is refused by its expected value.
//	L2  Work moves from a node that is lost or about to end, or at somebody's request;
//	    never to even the load.
//	L3  During the first ten seconds of its first tenure a leader takes nothing from
//	    a voter it has heard nothing of: after a restart of all nodes everybody
//	    keeps what it owned.
//	L4  A planned move happens whole or not at all, under a hold of everything that
//	    feeds it.
//
// The package imports control, catalog, decide and quiesce; never flow, session or
// a connector.
package leader
