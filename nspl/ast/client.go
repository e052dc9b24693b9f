package ast

import "plexus/nspl/vocab"

// CreateClient is CREATE CLIENT. Pool is nil where the type has none, Signaling
// and Mount where nothing was written.
type CreateClient struct {
	Create
	Type      vocab.ClientType
	Signaling *Name // WEBSOCKETS
	Pool      *Pool
	Mount     *Binding
	Config    []ConfigEntry
}

// Pool is POOL SIZE MIN … MAX ….
type Pool struct{ Min, Max Uint }

// ConfigEntry is one line of CONFIG. The value is kept as text whatever its form.
type ConfigEntry struct{ Key, Value Text }
