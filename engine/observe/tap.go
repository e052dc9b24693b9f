package observe

// EventKind says what happened.
type EventKind uint8

// The events of the data plane. Each names which fields of [Event] it fills
// besides Domain and Name.
const (
	RootsOpened       EventKind = iota + 1 // Tree, Count
	SharesForked                           // Tree, Rows (nil: all), Count: shares that replace one
	SharesOK                               // Tree, Rows
	SharesFailed                           // Tree, Rows, Text
	RootFailed                             // Tree, Row, Text
	RootsDone                              // Tree, Count: rows that succeeded
	PositionsAcked                         // ID: batch, Count
	PositionsRejected                      // ID: batch, Count, Text
	PositionsLeft                          // ID: batch, Count: abandoned to the transport
	SourceProgress                         // ID: batch: the host took the confirmation
	StateSaved                             // ID: batch
	GroupClosed                            // Count, Text: cause
	RelayAdmitted                          // Peer: node it came from, ID: admission sequence, Count, Depth
	RelayDispatched                        // ID: admission sequence, Count
	ConsumerTook                           // Peer: relay, Count
	MessageFailed                          // Count, Text: operation
	SinkOffered                            // ID: payload, Count, Hash, Depth: attempt
	SinkDelivered                          // ID: payload, Count
	SinkRejected                           // ID: payload, Count
	PayloadDropped                         // ID: payload: released by teardown
	DomainQuiet                            // ID: flush generation
	RevisionInstalled                      // ID: revision number
	DefinitionChanged                      // ID: index of the command, Row: number of the kind
	DispatchSent                           // Peer: node that owns the relay and admitted it, Count
	CopyAdmitted                           // Peer: node that owns the relay, ID: admission sequence of copies, Count, Depth
	CopyDispatched                         // Peer: node that owns the relay, ID: admission sequence of copies, Count
	ExecutionStarted                       // Text: kind, ID: schedule under which this node executes it from now on, Count: 1 if every node does
	ExecutionEnded                         // Text: kind; nothing of it executes here any more
	RootsWatched                           // Tree, Count: roots of rows that another node forwarded
	RelayGated                             // Count: holds that let nobody in from here on
	RelayDropped                           // ID: admission sequence: failed before its fan-out began

	// Deliveries between nodes. All name them by Peer and Run: the other process,
	// Tree and ID: incarnation and sequence of the channel, Hash: the number of row
	// 0 or 0 without shares, Depth: role. The first six are of the sender, the others
	// of the receiver.
	DeliveryOffered  // Count: rows, Text: branch; the identity is given
	DeliveryDecided  // Text: verdict or cause, Count: 1 if no row was or will be seen
	DeliveryHeard    // first sign of life since the last sweep
	DeliveryResolved // Rows (nil: all open ones), Text: reason, Count: 1 if they failed, Row: 1 if nobody reported them
	DeliverySilent   // Count: open rows; they fail next
	DeliveryEnded    // no row is open
	DeliveryGranted  // Count: rows; room is reserved
	DeliveryReceived // the body is here
	DeliveryTaken    // the graph took the batch
	DeliveryVerdict  // Text: admitted, rejected, cancelled
	DeliveryRows     // Rows (nil: all), Text: reason, Count: 1 if they failed; an outcome of the graph
	DeliveryHeld     // there is no room yet
	DeliveryRefused  // Text: subject, Count: class; nothing was reserved
	ExchangeStarted  // Run: this process; the first of its events about deliveries
	DeliveriesSwept  // of the sender, names no delivery: all that are silent count one more
)

// Event is one observation. Names are definitions' names; no field holds a
// value of a record.
type Event struct {
	Kind   EventKind
	Domain string
	Name   string
	Peer   string
	Tree   uint64
	ID     uint64
	Hash   uint64
	Run    uint64 // another process
	Row    int
	Count  int
	Depth  int
	Rows   []int32 // lent for the call
	Text   string
}

// Tap receives events in the order they happen on each task. Observe must not
// block and must not call back into the engine.
type Tap interface{ Observe(Event) }

// Emit hands the event to the tap if there is one.
func Emit(t Tap, e Event) {
	if t != nil {
		t.Observe(e)
	}
}
