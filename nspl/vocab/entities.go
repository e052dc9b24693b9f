package vocab

// ClientType is the TYPE of a client.
type ClientType uint8

// The client types this build knows.
const (
	ClientHTTP ClientType = iota + 1
	ClientNATS
	ClientRedis
)

var clientTypeNames = [...]string{"", "HTTP", "NATS", "REDIS"}

// String returns the keyword.
func (t ClientType) String() string { return clientTypeNames[t] }

// SourceEntity is what an ingestor reads: connector and noun, which together are
// the head of its statement.
type SourceEntity uint8

// The source entities.
const (
	SourceHTTPEndpoint SourceEntity = iota + 1
	SourceNATSSubject
	SourceNATSStream
	SourceRandomSequence
)

// SinkEntity is what an emitter writes.
type SinkEntity uint8

// The sink entities.
const (
	SinkNATSSubject SinkEntity = iota + 1
	SinkRedisChannel
	SinkHTTPRequest
)
