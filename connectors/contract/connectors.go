package contract

import (
	"context"

	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Connectors is what a node can open. cmd/plexusd fills it with connectors over
// real drivers, the simulator with connectors over its brokers.
type Connectors struct {
	Sources map[vocab.SourceEntity]SourceOpener
	Sinks   map[vocab.SinkEntity]SinkOpener
}

// SourceOpener checks the plan and prepares one instance. It resolves no name
// and opens no connection: the first Resume does.
type SourceOpener func(ctx context.Context, plan SourcePlan, instance int, env Env) (Source, error)

// SinkOpener opens one sink. Unlike a source it connects, because an emitter
// whose sink cannot open is shown as unavailable and retried by its host.
type SinkOpener func(ctx context.Context, plan SinkPlan, env Env) (Sink, error)

// SourcePlan is everything one source is opened with.
type SourcePlan struct {
	Entity vocab.SourceEntity
	Client Client // zero for sources without a client
	Names  vocab.ExternalNames
	Mode   vocab.SourceMode
	Cursor vocab.Cursor // cursor sources
	Seed   uint64       // RANDOM SEQUENCE
}

// SinkPlan is everything one sink is opened with. What the host evaluates itself
// (methods, targets, headers, codecs) is not in it.
type SinkPlan struct {
	Entity vocab.SinkEntity
	Client Client
	Names  vocab.ExternalNames
	Mode   vocab.SinkMode
}

// Client is a client's resolved configuration: mounts are paths by now.
type Client struct {
	Name   string
	Type   vocab.ClientType
	Config []vocab.ConfigEntry
	Pool   *vocab.Pool
}

// The configuration types of the vocabulary that connectors and drivers meet.
type (
	Server   = vocab.Server
	Secret   = vocab.Secret
	TLSFiles = vocab.TLSFiles
)

// Env is what a connector may use of its node.
type Env struct {
	World    primitives.World
	Events   Events
	Identity Identity
}

// Identity labels what a connector reports. It decides nothing.
type Identity struct {
	Node   string
	Domain string
	Name   string // of the ingestor or emitter
}

// Events takes what a connector has to say beside its return values. Its methods
// do not block and may be called from any task.
type Events interface {
	// Report publishes a runtime event, such as messages that a slow consumer
	// dropped.
	Report(err error)
	// LastDelivery counts messages that the broker will not present again after
	// this delivery (plexus_ingestor_last_delivery_total).
	LastDelivery(messages int)
	// Waiting shows the reason as the status of the emitter until end is called.
	// It is published only when a wait really happens.
	Waiting(reason string) (end func())
}

// Header is one header field. Text only: a transport's other bytes have been
// replaced by then.
type Header struct{ Name, Value string }
