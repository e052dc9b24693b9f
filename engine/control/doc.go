// Package control keeps the replicated state: a consensus group around the pure
// machine of package catalog, its log and its snapshots on the node's files.
//
// Three tasks own the group. The core task holds the raft machine, its clock and
// every pending proposal; the append task writes the log; the apply task steps
// the catalog. They talk through queues, and the core never waits for storage.
// A cluster of one is a group of one: the same code without a peer to send to.
//
//	G1  A response of an append leaves this package only after every byte it
//	    covers is synchronised.
//	G2  A storage error stops all later writes of the process; what was being
//	    written has an unknown outcome. The files are not touched again.
//	G3  Recovery returns a prefix of what was written that contains everything
//	    synchronised, or refuses and names the file and offset of the damage.
//	G4  A state becomes visible in one step, after the command that made it is
//	    committed.
//
// Log format: wal.go. Snapshot format: snapshot.go. The package imports catalog,
// raft and primitives; it never imports flow, session or a connector.
package control
