package redis

// IsReply reports whether a frame of the server answers a publish. A hop between
// client and server uses it to lose exactly that.
func IsReply(kind byte) bool { return kind == frameReply }
