package redis

import "plexus/sim/brokers"

// IsReply reports whether a frame of the server answers a publish. A hop between
// client and server uses it to lose exactly that. The reply to a connect counts
// no receivers.
func IsReply(frame brokers.In) bool { return frame.Kind == frameReply && frame.Uint() > 0 }
