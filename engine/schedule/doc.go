// Package schedule decides which node executes which operator of a domain.
// [Plan] is a pure and total function: what it is given decides the result, and
// there always is one.
//
//	SC1  Every operator has exactly one assignment. It is unassigned only if no
//	     node may take it and none may keep it.
//	SC2  The members of a hard group share one primary.
//	SC3  An operator stays where it is while its node is a live voter, unless its
//	     group has to come together or the caller moves it. Model changes, joins,
//	     uncordons and soft policies move nothing.
//	SC4  Nothing new lands on a node that is cordoned, terminating, not live or no
//	     voter; only a group follows members that are there already.
//	SC5  Replicas belong to operators with persisted state, are live voters, differ
//	     from the primary and from each other, and are at most as many as asked
//	     for. An unassigned operator remembers who holds its state instead.
//	SC6  Equal inputs give equal results, in whatever order nodes and previous
//	     assignments are listed.
//
// What stays is placed first and counts as being there for everything that is
// ranked after it.
//
// The package imports engine/placement, primitives/invariant and xxh3; never the
// catalog.
package schedule
