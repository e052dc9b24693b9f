package ast

// CreateGenerator is CREATE GENERATOR.
type CreateGenerator struct {
	Create
	State  Name
	Each   Duration
	Branch BranchUse
	Routes []Route
}
