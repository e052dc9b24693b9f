package ast

// CreateBranch is CREATE BRANCH. MaxInstances is nil where eviction was left out.
type CreateBranch struct {
	Create
	Schema       Name
	TTL          Duration
	MaxInstances *Uint
}
