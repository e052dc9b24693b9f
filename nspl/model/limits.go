package model

import "time"

// Bounds of what a statement can ask for.
const (
	// fieldsMax bounds a schema: every record carries every field, and checks
	// compare the fields of two schemas with each other.
	fieldsMax = 1024
	// capacityBatchesMax keeps a relay's buffer an ordinary allocation; what
	// bounds its memory is backpressure, not this number.
	capacityBatchesMax = 1 << 20
	// parallelMax bounds the confirmations or deliveries that one instance holds
	// open; each costs bookkeeping even when it is idle.
	parallelMax = 1 << 20
	// cursorRowsMax is the largest batch a cursor source returns.
	cursorRowsMax = 65_536
	// batchMessagesMax is the largest payload of several records.
	batchMessagesMax = 65_536

	// tensorAxesMax is how deep lists of lists may go.
	tensorAxesMax = 16
	// The memory of a guest, from one page to what 32-bit addresses reach.
	guestMemoryMin, guestMemoryMax = 64 << 10, 4 << 30
	// mqttReceiveMax is the largest Receive Maximum that MQTT can announce.
	mqttReceiveMax = 65_535
	// pushPendingMax bounds the senders that wait at one HTTP PUSH source.
	pushPendingMax = 1 << 20
	// iggyPartitionsMax bounds the state of an Iggy source: an offset for each.
	iggyPartitionsMax = 1000
	// mappingsMax bounds VALUES, ATTRIBUTES and RESOURCE: each is a column.
	mappingsMax = fieldsMax

	// sqsBytesMax is the largest message SQS takes.
	sqsBytesMax = 256 << 10
	// clientBatchBytesMax is the largest batch of the client protocol.
	clientBatchBytesMax = 32 << 20
	// programBytesMax bounds the text of a jq program.
	programBytesMax = 64 << 10

	// placementSideMax bounds a side of a placement: every pair of its sides is a
	// corridor to look at.
	placementSideMax = 256

	// ackTimeoutMin leaves room for one flush and one round trip.
	ackTimeoutMin = time.Second
	// cursorAckTimeoutMax is the window in which a cursor source's staged work
	// must be confirmed.
	cursorAckTimeoutMax = 30 * time.Second
)
