package ast

// CreateVHost is CREATE VHOST. The hostnames are lower-cased.
type CreateVHost struct {
	Create
	Hostnames []Text
}
