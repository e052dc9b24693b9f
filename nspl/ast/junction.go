package ast

// CreateJunction is CREATE JUNCTION.
type CreateJunction struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Filter     Expr
	Branch     BranchUse
	Routes     []Route
}
