package flow

import "time"

// Bounds of the data plane. They are properties of the engine, not of any
// clause.
const (
	// ImmediateWindow is FLUSH IMMEDIATE: near-simultaneous rows share a batch.
	ImmediateWindow = 100 * time.Microsecond
	// KeepaliveEvery is how often an owner refreshes the roots of rows it holds by
	// a declared policy. It must fit several times into the smallest ACK TIMEOUT.
	KeepaliveEvery = 100 * time.Millisecond
	ackTimeoutMin  = time.Second
	// moveGrace is what an operator gets to end when another node executes it now: a
	// planned move has drained it before.
	moveGrace = 2 * time.Second
	// lateGrace is how long a node that does not serve a relay any more keeps the
	// delivery of one that has yet to learn so, looking every lateLook whether this
	// node serves it again. Nodes learn within moments; one that does not is cut off.
	lateGrace = 15 * time.Second
	lateLook  = time.Second
	// subscriptionFrames is the queue of a session for all its subscriptions.
	subscriptionFrames = 16
	// frameRowsMax bounds one frame of a subscription.
	frameRowsMax = 256
	// inputStarvationMax is how many turns a task spends on other work before it
	// takes a waiting input.
	inputStarvationMax = 64
)

// A holder's refresh is observed several times within the shortest timeout.
const _ = uint(ackTimeoutMin - 4*KeepaliveEvery)
