package nats

import (
	_ "plexus/engine/decide" // want `PX013: plexus/connectors/nats may not import plexus/engine/decide`
	_ "plexus/primitives"
)
