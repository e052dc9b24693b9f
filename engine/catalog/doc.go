// Package catalog is the replicated state machine of the control plane:
// committed commands go in, an immutable [State] and [Effects] come out.
//
//	C1  Apply is a pure function of state and command: it reads no clock, entropy,
//	    file, environment or map order. The proposer stamps time and identity.
//	C2  A step whose precondition fails refuses its command, which then changes
//	    nothing; the refusal is its recorded result, never an error of the node.
//	C3  Two nodes that applied the same log index hold states of equal digest,
//	    whatever snapshots they started from (CP-4).
//	C4  A reference is bound to one command until it is older than the retry fence,
//	    and then it is refused (CP-7).
//
//	C5  While a domain's lease is held, nobody but its owner writes the domain.
//	C6  A raft id belongs to one member for ever, and a removed one to nobody.
//	C7  An execution that finished and a transaction that ended hold no lease.
//
// A model is kept as its canonical statement and as the structure parsed from it
// once, when its command is applied or its snapshot is loaded; nothing parses it
// again. The package imports nspl, strict and protobuf. It never imports a World, control
// or flow. Properties: state_test.go.
package catalog
