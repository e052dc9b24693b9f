// Package control keeps the replicated state: a consensus group around the pure
// machine of package catalog, its log and its snapshots on the node's files.
//
// Three tasks own the group. The core task holds the raft machine, its clock and
// every pending proposal; the append task writes the log; the apply task steps
// the catalog. They talk through queues, and the core waits neither for storage nor
// for other members, which it reaches through [Peers]. A task beside them fetches
// the snapshot that a leader offers, another writes this node's own, and two see to
// membership. A cluster of one is a group of one: the same code without anybody to
// send to.
//
//	G1  A response of an append leaves this package only after every byte it
//	    covers is synchronised.
//	G2  A storage error stops all later writes of the process; what was being
//	    written has an unknown outcome. The files are not touched again.
//	G3  Recovery returns a prefix of what was written that contains everything
//	    synchronised, or refuses and names the file and offset of the damage.
//	G4  A state becomes visible in one step, after the command that made it is
//	    committed.
//	G5  A snapshot of another member counts once all of it was verified and is
//	    durable: it is published, then the log goes on from it, then it replaces
//	    the state in one step, and only then raft hears of it.
//	G6  A node record and the raft configuration change at one log index: the change
//	    of members carries the command, and a refused command changes neither.
//	G7  A raft id that was dropped is never a member again.
//
// Log format: wal.go. Snapshot format: snapshot.go. The package imports catalog,
// strict, raft and primitives; it never imports flow, session or a connector.
package control
