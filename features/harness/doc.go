// Package harness runs the acceptance features: it reads them, decides which
// examples a world can run, gives every scenario a [Stage] and defines the steps.
//
// The steps know no world. What they need from one - nodes, sessions, external
// systems, faults, time - they ask of the Stage; what they wait for, they wait
// for on its clock. The three worlds are packages simworld, realworld and
// containerworld beside this one.
//
// Invariants:
//
//	H1  Every step body runs through [Stage.Do], so a simulated world can run it
//	    as a task of its scheduler.
//	H2  Every assertion about the running system is bounded and reports the last
//	    value it saw.
//	H3  A scenario that does not run appears in the table of skips with its reason.
package harness
