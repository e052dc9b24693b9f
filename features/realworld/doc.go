// Package realworld runs scenarios against the production daemon: plexusd child
// processes on loopback, real sockets, disks and signals, and external systems
// from providers.
//
// The systems are shared by a run and every scenario has names of its own in
// them. What a scenario breaks, it breaks in a TCP relay that only its own
// clients go through, so nobody else is hurt. Everything that was started ends
// by the process id it had.
package realworld
