package session

import "time"

// Limits of the protocol.
const (
	requestBytesMax  = 4 << 20
	replyBytesMax    = 64 << 20
	inFlightMax      = 64
	sessionsMax      = 4096
	replansMax       = 16
	stopGrace        = 2 * time.Second
	stopPoll         = 50 * time.Millisecond
	noticesQueued    = 64
	referenceAhead   = 5 * time.Minute // clock difference that a client may have
	frameJSONBytes   = 4 << 20
	describeTimeout  = 5 * time.Second
	authCacheFor     = 5 * time.Minute
	authCacheMax     = 1024
	authFailureEvery = 100 * time.Millisecond
)
