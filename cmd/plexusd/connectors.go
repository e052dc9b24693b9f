package main

import (
	"plexus/connectors/contract"
	"plexus/connectors/http"
	"plexus/connectors/nats"
	"plexus/connectors/random"
	"plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
	natsdriver "plexus/real/drivers/nats"
	redisdriver "plexus/real/drivers/redis"
)

// connectors is everything this build can open.
func connectors(w primitives.World) contract.Connectors {
	table := contract.Connectors{
		Sources: map[vocab.SourceEntity]contract.SourceOpener{},
		Sinks:   map[vocab.SinkEntity]contract.SinkOpener{},
	}
	http.Register(table)
	nats.New(natsdriver.Driver{}).Register(table)
	random.Register(table)
	redis.New(w, redisdriver.Driver{}).Register(table)
	return table
}
