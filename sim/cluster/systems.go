package cluster

import (
	"plexus/connectors/contract"
	httpconnector "plexus/connectors/http"
	natsconnector "plexus/connectors/nats"
	"plexus/connectors/random"
	redisconnector "plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers/http"
	"plexus/sim/brokers/nats"
	"plexus/sim/brokers/redis"
)

// Systems are the external systems of a simulation, each on a machine whose name
// is the host name under which nodes reach it.
type Systems struct {
	Bus     *nats.Broker  // nats://bus:4222
	Cache   *redis.Broker // redis://cache:6379
	Partner *http.Broker  // http://partner:8080
}

// NewSystems starts them.
func NewSystems(s *sim.Simulation) *Systems {
	x := &Systems{
		Bus:     nats.New(s, s.Host("bus")),
		Cache:   redis.New(s, s.Host("cache")),
		Partner: http.New(s, s.Host("partner")),
	}
	x.Bus.Start()
	x.Cache.Start()
	x.Partner.Start()
	return x
}

// Hosts returns their machines.
func (x *Systems) Hosts() []*sim.Host {
	return []*sim.Host{x.Bus.Host(), x.Cache.Host(), x.Partner.Host()}
}

// Connectors are what a node in the simulator can open, over the driver of NATS
// that it is given.
func Connectors(w primitives.World, bus natsconnector.Driver) contract.Connectors {
	c := contract.Connectors{
		Sources: map[vocab.SourceEntity]contract.SourceOpener{},
		Sinks:   map[vocab.SinkEntity]contract.SinkOpener{},
	}
	natsconnector.New(bus).Register(c)
	redisconnector.New(w, redis.Driver{}).Register(c)
	httpconnector.Register(c)
	random.Register(c)
	return c
}
