package flow

import (
	_ "testing" // want `PX013: plexus/engine/flow may not import testing`

	_ "example.com/driver" // want `PX013: plexus/engine/flow may not import example.com/driver`
	_ "google.golang.org/protobuf/proto"
	_ "plexus/connectors/nats" // want `PX013: plexus/engine/flow may not import plexus/connectors/nats`
	_ "plexus/engine/decide"
)
