// Package flow executes one domain on one node: relays, junctions, the intake of
// ingestors, subscriptions, and what they share with the hosts of external
// systems.
//
// A [Domain] installs a decide.Revision by comparing it with what runs: equal
// operators are left alone, changed programs are handed to their task, and
// whatever goes away is drained first. Records travel as [Carrier]s: a producer's
// route offers a batch to its relay, the relay's task hands it to every consumer,
// a consumer's task runs it through its program.
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
//
// It imports decide, expr, codec, batch, ack, clock and observe. It never imports
// control, host, a connector, real or sim.
package flow
