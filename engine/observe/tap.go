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
	RelayPlaced                            // Peer: node that owns the relay from now on, ID: revision
	RootsWatched                           // Tree, Count: roots of rows that another node forwarded
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
