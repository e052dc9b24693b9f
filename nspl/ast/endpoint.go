package ast

import "plexus/nspl/vocab"

// CreateEndpoint is CREATE ENDPOINT. Signaling belongs to WEBSOCKETS.
type CreateEndpoint struct {
	Create
	VHost     Name
	Path      Text
	Type      vocab.EndpointType
	Signaling *Name
}
