package session

import "plexus/primitives/invariant"

// Branches that campaigns have to reach.
var (
	resumed            = invariant.Sometimes("a command of an earlier leader is resumed")
	transactionExpired = invariant.Sometimes("an idle transaction expires")
	redirected         = invariant.Sometimes("a follower redirects")
	detached           = invariant.Sometimes("a leader lacks the binding of a transaction")
	takenOver          = invariant.Sometimes("a transaction is taken over")
	replanned          = invariant.Sometimes("a command is planned again")
	previewStale       = invariant.Sometimes("a COMMIT names a stale preview")
	staleRefusal       = invariant.Sometimes("a leader planned on a state that was behind")
	leaseConflict      = invariant.Sometimes("a command meets a held lease")
)
