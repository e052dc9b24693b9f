package decide

import "plexus/primitives"

var refused primitives.World                // want `PX013: primitives.World; use its values only`
var refusedQueue = primitives.NewQueue[int] // want `PX013: primitives.NewQueue; use its values only`
var accepted primitives.Instant
