package ast

// CreateDeduplicator is CREATE DEDUPLICATOR.
type CreateDeduplicator struct {
	Processor
	Keys    []Expr // DEDUPLICATE ON
	MaxTime Duration
}
