// Package scenario is the list of what plexus-sim can run. A scenario composes
// machines, programs, a workload, allowed faults and oracles; everything it does
// follows from its seed.
package scenario
