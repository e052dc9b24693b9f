// Package campaign runs scenarios under faults over many seeds and makes failures
// small and repeatable.
//
// A [Scenario] sets up machines, programs, workloads and oracles. [Execute] runs
// one seed of it: the plan's faults until the horizon, then everything heals, a
// quiet suffix, and every oracle must hold. A [Spec] says everything that decides
// a run, so equal specs of one build give equal digests; it is what replay files
// hold and what [Shrink] makes smaller. [Check] runs a spec several times and
// compares. A [Coordinator] hands ranges of seeds to worker processes.
package campaign
