// Package primitives is the boundary between Plexus and the universe.
//
// A [World] is what one cluster node may see of it: clock, tasks, sockets,
// names, randomness, files, the log. Package real builds a World on the
// operating system, package sim builds one on a seeded scheduler, and product
// code cannot tell which it holds. Both pass one behaviour suite,
// primitives/primitivestest.
//
// A build supplies the interfaces of this package. Everything that blocks on
// other tasks - [Queue], [Mutex], [Event], [Cond], [Semaphore], [Group],
// [Select], timers, cancellation scopes - is written once, here, on the
// park/unpark half of [Tasks], so the builds cannot differ in meaning.
//
// Invariants:
//
//	P1  A parked task is woken by exactly one claim of its [Waiter].
//	P2  An internal lock is never held while its task parks, so in the simulated
//	    build it is always uncontended.
//	P3  Every wait carries a reason that deadlock reports and the daemon's debug
//	    listing show.
//	P4  A context carries cancellation only; a deadline is an explicit [Instant].
//
// The package imports the standard library only. It never imports real, sim,
// engine or a connector.
package primitives
