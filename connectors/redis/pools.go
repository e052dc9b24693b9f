package redis

import (
	"context"
	"slices"
	"time"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// connectBudget covers lookup, dialling, TLS, authentication and database
// selection of one connection.
const connectBudget = 30 * time.Second

// Connector opens the Redis entities of one node over one driver.
type Connector struct {
	world  primitives.World
	driver Driver
	mu     *primitives.Mutex
	pools  []*sharedPool
}

// New returns the connector of a node.
func New(w primitives.World, driver Driver) *Connector {
	return &Connector{world: w, driver: driver, mu: primitives.NewMutex(w)}
}

// Register adds the entities to the node's connectors.
func (c *Connector) Register(into contract.Connectors) {
	into.Sinks[vocab.SinkRedisChannel] = c.OpenSink
}

// sharedPool is the pool of one client in one domain. It lives while it has
// users. A client that was recreated with another configuration is another pool.
type sharedPool struct {
	domain string
	client contract.Client
	conns  *contract.Pool[Conn]
	users  int
}

func (p *sharedPool) is(domain string, client contract.Client) bool {
	return p.domain == domain && p.client.Name == client.Name && *p.client.Pool == *client.Pool &&
		slices.Equal(p.client.Config, client.Config)
}

// acquire returns the pool of a client, creating it for its first user.
func (c *Connector) acquire(client contract.Client, env contract.Env) (*sharedPool, error) {
	config, err := vocab.ParseRedis(client.Config)
	if err != nil {
		return nil, err
	}
	target := Target{Server: config.Server, Database: config.Database}
	if config.Server.TLS {
		target.TLS, err = contract.ClientTLS(env.World, config.TLS, client.Type, contract.TrustReplaced, config.Server.Host)
		if err != nil {
			return nil, err
		}
	}
	if err := c.mu.Lock(context.Background()); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	for _, pool := range c.pools {
		if pool.is(env.Identity.Domain, client) {
			pool.users++
			return pool, nil
		}
	}
	pool := &sharedPool{domain: env.Identity.Domain, client: client, users: 1}
	pool.conns = contract.NewPool(c.world, *client.Pool, func(ctx context.Context) (Conn, error) {
		to := target
		to.Deadline = c.world.Clock().Now().Add(connectBudget)
		return c.driver.Connect(ctx, c.world, to)
	})
	c.pools = append(c.pools, pool)
	return pool, nil
}

// release ends one use; the last closes the pool.
func (c *Connector) release(ctx context.Context, pool *sharedPool) error {
	if err := c.mu.Lock(context.Background()); err != nil {
		return err
	}
	pool.users--
	last := pool.users == 0
	if last {
		c.pools = slices.DeleteFunc(c.pools, func(p *sharedPool) bool { return p == pool })
	}
	c.mu.Unlock()
	if !last {
		return nil
	}
	return pool.conns.Close(ctx)
}
