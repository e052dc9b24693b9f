package ast

// CreateReorderer is CREATE REORDERER.
type CreateReorderer struct {
	Processor
	Keys    []Expr // BY
	MaxTime Duration
}
