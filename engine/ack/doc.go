// Package ack tracks which deliveries a source position still waits for.
//
// A source host opens a [Tree] per ingest group: one root per message. The
// shares of all its rows travel beside the batch as a [Set]; relays fork a set
// per attached consumer, filters select from it, and whoever finishes rows
// resolves theirs. A [Tally] joins the trees of one source batch and says once
// whether every message of it succeeded.
//
// Rows cross nodes in two halves. The sender keeps a set as [Forwarded] and
// resolves rows as reports arrive; the receiver gives the arriving batch a set of
// its own, a [Ledger.Watch], whose rows report one by one.
//
// While all rows of a tree share their fate, a hop costs one atomic addition per
// batch. The first selection that separates rows gives the tree a counter per
// row; nothing is allocated per row, ever.
//
//	I1  A root succeeds only when its pending count is zero and no share failed.
//	I2  The first failure decides a root at once; later outcomes change nothing.
//	I3  A tree and a tally each report exactly one outcome.
//	I4  A set is consumed by the operation that resolves, forks or selects it.
//	    Using it again is a defect.
//	I5  Children are reserved before the share they replace is resolved, so the
//	    pending count of an open root never touches zero.
//	I6  Every row of a watched tree is reported once: at its first failure, or when
//	    its last share succeeded.
//
// Nothing here survives a restart. The package is pure: no task, no clock,
// nothing blocking. It imports observe for the tap and the gauges.
package ack
