package control

import "plexus/primitives/invariant"

// Rare branches that campaigns must reach.
var (
	appliedBefore      = invariant.Sometimes("a snapshot overtook committed entries")
	claimRepeated      = invariant.Sometimes("a claim was answered again")
	generationPinned   = invariant.Sometimes("a transfer kept an older snapshot")
	logDiverged        = invariant.Sometimes("the leader lacked what this member had committed")
	overwritten        = invariant.Sometimes("the log overwrote entries of another leader")
	sectionDamaged     = invariant.Sometimes("a fetched snapshot section was damaged")
	snapshotInstalled  = invariant.Sometimes("a snapshot of another member was installed")
	snapshotTooOld     = invariant.Sometimes("a snapshot did not know a new member")
	suffixContradicted = invariant.Sometimes("recovery dropped entries that a snapshot contradicts")
	transferFailed     = invariant.Sometimes("a snapshot transfer failed")
	transferLost       = invariant.Sometimes("a snapshot transfer lost its generation")
	readRepeated       = invariant.Sometimes("a read was asked for again")
	oldCopyRefused     = invariant.Sometimes("an old copy of a data directory was refused though it was started more often")
	leadershipLost     = invariant.Sometimes("a leader lost its leadership with commands pending")
	logFull            = invariant.Sometimes("a command waited for room in the log")
)
