package ast

// CreateReingestor is CREATE REINGESTOR.
type CreateReingestor struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Filter     Expr
	States     []StateDep
	Routes     []Route // each makes a branch
}
