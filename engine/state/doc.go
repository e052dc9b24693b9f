// Package state is the node's store for what operators must remember across
// restarts and take along when they move: the positions of cursor sources, and
// checkpoints of every other component.
//
// Positions ([Cursors]):
//
//	S1  A saved state survives kill -9 and the loss of the machine's cache from
//	    the moment Save returns.
//	S2  Load returns the last saved state or one whose Save had begun, never a
//	    mixture and never nothing where something had been saved: damage is an
//	    error.
//
// Each state has two slots, which are files. A save overwrites the slot that the
// node does not rely on, so a torn write leaves the other one.
//
// Checkpoints ([Store], [Staging], [Replication]):
//
//	S3  A checkpoint is one container, replaced as a whole: it survives a crash
//	    from the moment Publish or Install returns, and damage of any byte fails
//	    all of it.
//	S4  Revisions only grow; none is used twice, not even after a failed write.
//	S5  Only what the applied schedule publishes is read, served, written or
//	    installed. A superseded generation never comes back.
//	S6  Bytes of another node are charged to the staging quota before they are
//	    written, and nothing parses or replaces anything before their length and
//	    digest were checked.
//	S7  A replica acknowledges what its own disk has, never what it received, and
//	    its progress only rises.
//
// The package imports primitives, strict encodings and the connector contract; it
// never imports flow, host, handoff or interconnect.
package state
