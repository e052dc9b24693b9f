package brokers

import (
	_ "plexus/connectors/nats"
	_ "plexus/real" // want `PX013: plexus/sim/brokers may not import plexus/real`
)
