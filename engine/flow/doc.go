// Package flow executes one node's part of one domain: relays, junctions, the
// intake of ingestors, subscriptions, and what they share with the hosts of
// external systems.
//
// A [Domain] installs a decide.Revision by comparing it with what runs: equal
// operators are left alone, changed programs are handed to their task, and
// whatever goes away is drained first. Records travel as [Carrier]s: a producer's
// route offers a batch to its relay, the relay's task hands it to every consumer,
// a consumer's task runs it through its program.
//
// A revision says which node executes what. Every node has an end of every relay:
// on its owner that is the relay; elsewhere it mirrors it. Producers dispatch
// through a mirror to the owner, which sends one copy of each batch to every node
// with consumers; there the mirror fans it out. Batches travel through an
// [Exchange], with shares of their own on either side.
//
//	F1  Every piece of per-record state has one owning task. A relay's buffer and
//	    its waiting dispatches are the exception: they change under the relay's
//	    lock, which nothing waits under.
//	F2  A carrier is immutable and counted. Rows, watermarks and shares are
//	    selected together.
//	F3  One batch of a route is in dispatch at most. Waiting for capacity drops
//	    nothing and refreshes nothing.
//	F4  Work in hand is counted at its destination before it leaves its source, so
//	    a drain may see too much and never too little.
//	F5  Every owner that ends resolves the shares it holds; none is forgotten.
//	    A swap pauses the relays that feed what it exchanges, so their buffered
//	    batches wait for the new consumers instead of missing both.
//	F6  A failing error record never makes another error record.
//	F7  A batch that another node offers is admitted or stays the sender's, with
//	    all its shares; a batch offered to another node ends with a verdict.
//	F8  A copy is finished by the attached consumers that it was meant for and by
//	    no other: who left, or has yet to come, fails it or keeps it waiting.
//	F9  A hold's gate admits nobody, through whatever installation and owner.
//
// It imports decide, expr, codec, batch, ack, exchange, quiesce, clock and observe.
// It never imports control, host, a connector, real or sim.
package flow
