package ast

import "plexus/nspl/vocab"

// Policy is a placement policy with its place in the text.
type Policy struct {
	vocab.PlacementPolicy
	Span vocab.Span
}

// CreatePlacement is CREATE PLACEMENT. Rank is nil for a rule without one, which
// is weaker than any rank.
type CreatePlacement struct {
	Create
	From, To []Name
	Policy   Policy
	Rank     *Uint
}

// AlterPlacement is ALTER PLACEMENT: operations that apply from left to right.
type AlterPlacement struct {
	Alter
	Changes []PlacementChange
}

// PlacementOp says which operation of ALTER PLACEMENT it is.
type PlacementOp uint8

// The operations.
const (
	PlacementSetPolicy  PlacementOp = iota // SET POLICY policy
	PlacementSetRank                       // SET RANK n
	PlacementDropRank                      // DROP RANK
	PlacementSetMembers                    // SET FROM … TO …
	PlacementRename                        // RENAME TO name
)

// PlacementChange is one operation. The fields belong to the operations of their
// name.
type PlacementChange struct {
	Op       PlacementOp
	Policy   Policy
	Rank     Uint
	From, To []Name
	Name     Name
	Span     vocab.Span
}
