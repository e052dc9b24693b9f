package ast

// CreateEndpoint is CREATE ENDPOINT … TYPE HTTP.
type CreateEndpoint struct {
	Create
	VHost Name
	Path  Text
}
