package nats

// IsAnswer reports whether a frame of the server answers an awaited publish. A
// hop between client and server uses it to lose exactly that.
func IsAnswer(kind byte) bool { return kind == frameAnswer }
