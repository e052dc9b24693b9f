// Package oracle holds what must be true of every run, seen from outside the
// nodes: against ledgers of external systems, histories of clients and the
// simulated machines, never against a node's own account.
//
// One [Oracle] checks one property. Continuous runs about once per virtual second
// while faults happen; Quiet once everything has healed and settled.
package oracle
