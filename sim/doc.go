// Package sim is the seeded build of the boundary: a whole cluster, its
// network, disks, clocks and name server as one deterministic function of a
// seed.
//
// A [Simulation] owns virtual time and one cooperative scheduler. Tasks are
// coroutines; exactly one runs at a time, chosen from the runnable ones by the
// seed's strategy, and time moves only when none is runnable. A [Host] is a
// machine with addresses, a disk and a clock; a [Process] is one run of a
// program on it and the [primitives.World] that program sees. Everything that
// can go wrong (crash, freeze, cut, delay, torn write, clock jump, wrong
// answer) is an explicit call, so that a plan of such calls is data.
//
// Invariants:
//
//	S1  Equal seed, options and program give an equal digest, in every process,
//	    with every GOMAXPROCS and GOGC, on every architecture.
//	S2  A dead process has no effects: it is marked dead before its tasks are
//	    unwound, and every primitive of a dead process is inert.
//	S3  Randomness comes from streams named by purpose; a draw added to one
//	    shifts no other.
//	S4  A task waits with a reason; a report lists every task with its host,
//	    name and reason.
//	S5  Close leaves no goroutine behind.
//
// One simulation exists per operating-system process at a time, because
// crypto/rand.Reader, which consensus draws from, is replaced while it lives.
// The package never imports real, a driver, engine or a connector.
package sim
