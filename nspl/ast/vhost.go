package ast

// CreateVHost is CREATE VHOST. The hostnames are lower-cased. TLS is nil without
// WITH TLS.
type CreateVHost struct {
	Create
	Hostnames []Text
	TLS       *Binding
}
