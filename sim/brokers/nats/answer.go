package nats

import "plexus/sim/brokers"

// IsAnswer reports whether a frame of the server answers an awaited publish. A
// hop between client and server uses it to lose exactly that.
func IsAnswer(frame brokers.In) bool { return frame.Kind == frameAnswer }
