package nats

import (
	"context"
	"time"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Budgets. Each covers one operation as a whole.
const (
	connectBudget = 30 * time.Second // lookup, dialling, TLS, protocol handshake
	flushBudget   = 10 * time.Second // NO_ACK: writing and the server's answer
)

// Connector opens the NATS entities over one driver.
type Connector struct{ driver Driver }

// New returns a connector.
func New(driver Driver) *Connector { return &Connector{driver} }

// Register adds the entities to a node's connectors.
func (c *Connector) Register(into contract.Connectors) {
	into.Sources[vocab.SourceNATSSubject] = c.OpenSubject
	into.Sources[vocab.SourceNATSStream] = c.OpenStream
	into.Sinks[vocab.SinkNATSSubject] = c.OpenSink
}

// link is how one source or sink reaches its servers.
type link struct {
	driver Driver
	env    contract.Env
	target Target
}

func (c *Connector) newLink(client contract.Client, env contract.Env) (link, error) {
	config, err := vocab.ParseNATS(client.Config)
	if err != nil {
		return link{}, err
	}
	l := link{driver: c.driver, env: env, target: Target{
		Servers: config.Servers,
		Name:    "plexus " + env.Identity.Domain + "/" + env.Identity.Name,
	}}
	if config.Servers[0].TLS {
		// The driver names the server, which differs by address.
		l.target.TLS, err = contract.ClientTLS(env.World, config.TLS, client.Type, contract.TrustAdded, "")
	}
	return l, err
}

// connect opens a connection within the budget, whose end it returns for what
// else belongs to it.
func (l *link) connect(ctx context.Context) (Conn, primitives.Instant, error) {
	to := l.target
	to.Deadline = l.env.World.Clock().Now().Add(connectBudget)
	conn, err := l.driver.Connect(ctx, l.env.World, to)
	return conn, to.Deadline, err
}
