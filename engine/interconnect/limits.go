package interconnect

import "time"

// Frames.
const (
	headerBytes     = 12
	payloadMax      = 64 << 10
	setupPayloadMax = 4 << 10 // HELLO, WELCOME, REFUSED
	noticeMax       = 2 << 10 // RESET
	detailMax       = 1 << 10 // text within them
)

// Flow control, in bytes of messages plus messageCost each.
const (
	streamWindow     = 64 << 10
	connectionWindow = 256 << 10
	messageCost      = 64
	creditMax        = 1 << 30
)

// messageMax bounds one message by class.
var messageMax = [classCount]int{
	Management:  64 << 10,
	Commands:    1 << 20,
	Replication: 2 << 20,
	Relay:       32 << 20,
	Bulk:        64 << 10,
}

// Memory for messages, by class; nothing is lent. Commands and replication share.
const (
	memoryManagement = 8 << 20
	memoryCommands   = 24 << 20
	memoryRelay      = 192 << 20
	memoryBulk       = 32 << 20

	// RelayDecodedMax and RelayScratchMax bound what one relay body may become.
	RelayDecodedMax = 32 << 20
	RelayScratchMax = 16 << 20
	// SectionMax bounds one section of bulk data.
	SectionMax = 8 << 20
)

// connections is the number of connections a node keeps to a peer, by class.
var connections = [classCount]int{Management: 1, Commands: 1, Replication: 1, Relay: 2, Bulk: 1}

// laneStreams is the number of streams of one connection, by class and lane.
var laneStreams = [classCount][laneCount]int{
	Management:  {LaneShared: 32, LaneDiscovery: 4, LaneLiveness: 8, LaneClock: 8, LaneAdmission: 4, LaneCancellation: 4, LaneTerminal: 4},
	Commands:    {LaneShared: 32},
	Replication: {LaneShared: 6, LaneAppend: 2},
	Relay:       {LaneShared: 64},
	Bulk:        {LaneShared: 1, LaneResource: 2, LaneSnapshot: 1},
}

// laneAdmissions is the number of exchanges of the node in each direction.
var laneAdmissions = [laneCount]int64{
	LaneShared: 1024, LaneAppend: appendAdmissions, LaneResource: 8, LaneSnapshot: 8, LaneDiscovery: 8, LaneLiveness: 32,
	LaneClock: 8, LaneAdmission: 8, LaneCancellation: 4, LaneTerminal: 4,
}

const (
	// PeersMax is the largest cluster, without this node.
	PeersMax = 63
	// appendAdmissions lets a leader keep one append stream and its successor with
	// every peer: these streams do not end.
	appendAdmissions = 2 * PeersMax

	connectionsMax = 768
	handshakesMax  = 32 // in each direction
	// guestsMax bounds the connections of processes that are no members, and
	// guestWithin how long one lasts: enough for a cluster that forms at once.
	guestsMax   = 64
	guestWithin = 30 * time.Second
	// streamsPerConnection is when a connection is replaced, long before its stream
	// ids run out.
	streamsPerConnection = 1 << 31
	// outboxMax bounds the events of one connection and lane that wait for a stream.
	outboxMax = 256
)

// Times.
const (
	setupWithin         = 5 * time.Second
	requestWithin       = 10 * time.Second
	probeWithin         = time.Second
	probeEvery          = time.Second
	probesMax           = 32
	observationFresh    = 5 * time.Second
	clockWithin         = 2 * time.Second
	listenerCheckWithin = 2 * time.Second
	bulkOpenWithin      = 30 * time.Second
	progressWithin      = 5 * time.Second
	backoffMin          = 200 * time.Millisecond
	backoffMax          = 5 * time.Second
	quietBeforePing     = 5 * time.Second
	pongWithin          = 5 * time.Second
	livenessEvery       = time.Second
	drainWithin         = 10 * time.Second
	bulkIdle            = time.Minute
	credentialsEvery    = 5 * time.Second
)
