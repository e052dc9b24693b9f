package ast

// CreateRelay is CREATE RELAY. Capacity is nil where it was left out.
type CreateRelay struct {
	Create
	Schema       Name
	Branch       BranchUse
	Capacity     *Uint
	Materialized bool // WITH MATERIALIZED STATE LAST BY TIMESTAMP
}
