// Package handoff changes the owner of operators without losing what they
// remember.
//
// A planned change holds the boundary of the operators still, captures their
// state where they run, prepares it durably where they will run, commits the new
// schedule in one proposal, and lets the destination activate what it prepared. A
// forced recovery has no source to ask: it prepares the best surviving
// checkpoints, or records that a component starts empty.
//
//	H1  A preparation has one identity, its [Binding]: coordinator, hold,
//	    transition, entity, both processes, base and target schedule. Whatever
//	    differs in one of them is another preparation.
//	H2  A preparation counts once its manifest is durable, and its containers were
//	    verified and synchronised before.
//	H3  Capture needs the engaged hold and exactly its freeze; it never stops a
//	    route that still flushes.
//	H4  Whoever may have persisted a preparation is recorded before it is asked,
//	    and is asked to discard exactly that preparation when it is not used.
//	    A discard that comes first wins.
//	H5  Only a committed transition activates, once; a missing or different
//	    preparation fails the activation and touches no checkpoint.
//	H6  An activation replaces what the node keeps of an operator: by what was
//	    prepared, and by nothing where nothing was captured or the committed
//	    schedule says reset.
//
// The coordinator and the reconciliation are step cores with thin tasks; the
// package imports quiesce, state and primitives. It never imports flow, control,
// interconnect, real or sim.
package handoff
