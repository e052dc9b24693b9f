// Package clock is the time of a domain.
//
// An unpaced domain reads actual UTC. Its waits for a duration elapse on the
// monotonic clock: a wall-clock jump neither stalls them nor ends them early.
//
//	K1  Snapshots of one domain never decrease on a node, whatever the wall clock
//	    does.
//	K2  A wait that is due stays due.
//
// The package imports primitives only and blocks on nothing.
package clock
