package ast

// Processor is what the statements of most processors have.
type Processor struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Filter     Expr
	Branch     BranchUse
	States     []StateDep
	Routes     []Route
}

// CreateJunction is CREATE JUNCTION.
type CreateJunction struct{ Processor }
