package interconnect

import (
	"iter"
	"time"

	"plexus/primitives/invariant"
)

// Format names the complete set of operations and encodings. There is no
// negotiation: a change needs a coordinated stop of all nodes.
const Format = 1

// Class is a kind of traffic with connections, limits and memory of its own. A
// connection never changes its class.
type Class uint8

// The classes.
const (
	Management  Class = iota // small messages that must get through
	Commands                 // requests on behalf of clients
	Replication              // the log, checkpoints, handoff
	Relay                    // record batches
	Bulk                     // large transfers, on demand
	classCount
)

var classNames = [classCount]string{"management", "commands", "replication", "relay", "bulk"}

func (c Class) String() string {
	if c < classCount {
		return classNames[c]
	}
	return "unknown class"
}

// Form is the shape of an exchange.
type Form uint8

// The forms.
const (
	Event    Form = iota // one message, an empty acknowledgement
	Request              // one message, one answer
	Transfer             // one message, then bytes of a length declared first
	Duplex               // messages both ways
)

var formNames = [...]string{"event", "request", "transfer", "duplex"}

func (f Form) String() string { return formNames[f] }

// Lane is the capacity an operation draws on: streams of a connection and
// admissions of the node. Lanes lend each other nothing, so that a crowd in one
// does not keep another waiting.
type Lane uint8

// The lanes.
const (
	LaneShared Lane = iota
	LaneAppend
	LaneResource
	LaneSnapshot
	LaneDiscovery
	LaneLiveness
	LaneClock
	LaneAdmission
	LaneCancellation
	LaneTerminal
	laneCount
)

var laneNames = [laneCount]string{
	"shared", "append", "resource", "snapshot", "discovery", "liveness", "clock", "admission", "cancellation", "terminal",
}

func (l Lane) String() string { return laneNames[l] }

// Operation is one entry of the catalogue: what nodes can ask of each other.
// The zero Operation is none.
type Operation struct{ number uint16 }

// entry describes one operation.
type entry struct {
	name  string
	class Class
	form  Form
	lane  Lane
	// request and answer bound one message each way; 0 is the limit of the class.
	request, answer int
	// within bounds the whole exchange of the forms that have an end; 0 is
	// requestWithin.
	within time.Duration
	// guest operations are open to a process that is no member yet.
	guest bool
	// ordered events reach their handler one at a time, in the order of sending.
	ordered bool
	// reserved bytes are charged by whoever granted the exchange, not by the
	// transport.
	reserved bool
	idem     string // why a repeat is harmless
}

var catalogue = []entry{{}}

func operation(e entry) Operation {
	if e.request == 0 {
		e.request = messageMax[e.class]
	}
	if e.answer == 0 {
		e.answer = messageMax[e.class]
	}
	if e.within == 0 {
		e.within = requestWithin
	}
	catalogue = append(catalogue, e)
	return Operation{uint16(len(catalogue) - 1)}
}

// The cluster's interface is this list; there is no second listener. Numbers
// follow the order: a change of the list is a change of Format.
var (
	HelloJoin      = operation(entry{name: "hello.join", class: Management, form: Request, lane: LaneDiscovery, guest: true, idem: "versioned"})
	NodeAnnounce   = operation(entry{name: "node.announce", class: Management, form: Event, lane: LaneLiveness, within: probeWithin, idem: "versioned"})
	HealthProbe    = operation(entry{name: "health.probe", class: Management, form: Request, lane: LaneLiveness, within: probeWithin, idem: "versioned"})
	InterestUpdate = operation(entry{name: "interest.update", class: Management, form: Event, idem: "versioned"})

	RaftMessage         = operation(entry{name: "raft.message", class: Management, form: Event, lane: LaneLiveness, ordered: true, idem: "raft"})
	RaftReadIndex       = operation(entry{name: "raft.read_index", class: Management, form: Request, lane: LaneLiveness, idem: "raft"})
	RaftAppend          = operation(entry{name: "raft.append", class: Replication, form: Duplex, lane: LaneAppend, idem: "raft"})
	RaftSnapshotSection = operation(entry{name: "raft.snapshot_section", class: Bulk, form: Transfer, lane: LaneSnapshot, within: bulkOpenWithin, idem: "digest"})

	HoldEngage           = operation(entry{name: "hold.engage", class: Management, form: Request, idem: "hold identity"})
	HoldRelease          = operation(entry{name: "hold.release", class: Management, form: Request, lane: LaneCancellation, idem: "hold identity"})
	HoldStatus           = operation(entry{name: "hold.status", class: Management, form: Request, idem: "hold identity"})
	FlushRequest         = operation(entry{name: "flush.request", class: Management, form: Request, idem: "hold identity"})
	FlushStatus          = operation(entry{name: "flush.status", class: Management, form: Request, idem: "hold identity"})
	DomainDrainStatus    = operation(entry{name: "domain.drain_status", class: Commands, form: Request, idem: "read"})
	ListenerInstallation = operation(entry{name: "listener.installation", class: Management, form: Request, within: listenerCheckWithin, idem: "read"})
	ClockProgress        = operation(entry{name: "clock.progress", class: Management, form: Request, lane: LaneClock, within: clockWithin, idem: "fenced, replaceable"})

	RelayGrant    = operation(entry{name: "relay.grant", class: Management, form: Request, lane: LaneAdmission, idem: "delivery id"})
	RelayStatus   = operation(entry{name: "relay.status", class: Management, form: Request, lane: LaneAdmission, idem: "delivery id"})
	RelayCancel   = operation(entry{name: "relay.cancel", class: Management, form: Request, lane: LaneCancellation, idem: "delivery id"})
	RelayOutcome  = operation(entry{name: "relay.outcome", class: Management, form: Event, lane: LaneTerminal, idem: "delivery id"})
	RelayAck      = operation(entry{name: "relay.ack", class: Management, form: Event, ordered: true, idem: "delivery id"})
	RelayProgress = operation(entry{name: "relay.progress", class: Management, form: Event, lane: LaneClock, ordered: true, idem: "delivery id"})
	RelayBody     = operation(entry{name: "relay.body", class: Relay, form: Duplex, reserved: true, idem: "delivery id"})

	RuntimeDescribe   = operation(entry{name: "runtime.describe", class: Commands, form: Request, idem: "read"})
	RuntimeLookup     = operation(entry{name: "runtime.lookup", class: Commands, form: Request, idem: "read"})
	RuntimeGraphStats = operation(entry{name: "runtime.graph_stats", class: Commands, form: Request, idem: "read"})
	ClientEndpoint    = operation(entry{name: "client.endpoint", class: Commands, form: Request, idem: "endpoint sequence"})

	StateAnnounce    = operation(entry{name: "state.announce", class: Replication, form: Event, idem: "placement, revision"})
	StateAck         = operation(entry{name: "state.ack", class: Replication, form: Event, idem: "placement, revision"})
	StateCatalog     = operation(entry{name: "state.catalog", class: Replication, form: Request, idem: "placement, revision"})
	StateFetch       = operation(entry{name: "state.fetch", class: Replication, form: Request, idem: "placement, revision, digest"})
	StateFetchStream = operation(entry{name: "state.fetch_stream", class: Bulk, form: Transfer, lane: LaneSnapshot, within: bulkOpenWithin, idem: "placement, revision, digest"})

	HandoffCapture   = operation(entry{name: "handoff.capture", class: Replication, form: Request, idem: "hold, transition id"})
	HandoffPrepare   = operation(entry{name: "handoff.prepare", class: Replication, form: Request, idem: "hold, transition id"})
	HandoffConfirm   = operation(entry{name: "handoff.confirm", class: Replication, form: Request, idem: "hold, transition id"})
	HandoffActivate  = operation(entry{name: "handoff.activate", class: Replication, form: Request, idem: "hold, transition id"})
	HandoffDiscard   = operation(entry{name: "handoff.discard", class: Replication, form: Request, idem: "hold, transition id"})
	HandoffReconcile = operation(entry{name: "handoff.reconcile", class: Replication, form: Request, idem: "hold, transition id"})

	RecoveryPrepare = operation(entry{name: "recovery.prepare", class: Replication, form: Request, idem: "execution reference"})
	ResetPrepare    = operation(entry{name: "reset.prepare", class: Replication, form: Request, idem: "execution reference"})
	ResetActivate   = operation(entry{name: "reset.activate", class: Replication, form: Request, idem: "execution reference"})
	ResetAbort      = operation(entry{name: "reset.abort", class: Replication, form: Request, idem: "execution reference"})
	ResetRequest    = operation(entry{name: "reset.request", class: Management, form: Request, idem: "execution reference"})

	ResourceFetch  = operation(entry{name: "resource.fetch", class: Bulk, form: Transfer, lane: LaneResource, within: bulkOpenWithin, idem: "digest"})
	BackupCapture  = operation(entry{name: "backup.capture", class: Commands, form: Request, idem: "installation authority"})
	BackupSection  = operation(entry{name: "backup.section", class: Bulk, form: Transfer, within: bulkOpenWithin, idem: "installation authority"})
	RestoreStage   = operation(entry{name: "restore.stage", class: Bulk, form: Duplex, within: bulkOpenWithin, idem: "installation authority"})
	RestorePublish = operation(entry{name: "restore.publish", class: Commands, form: Request, idem: "installation authority"})
)

// Operations yields the catalogue in its order.
func Operations() iter.Seq[Operation] {
	return func(yield func(Operation) bool) {
		for n := 1; n < len(catalogue); n++ {
			if !yield(Operation{uint16(n)}) {
				return
			}
		}
	}
}

func (o Operation) entry() *entry {
	invariant.That(o.number != 0 && int(o.number) < len(catalogue), "an operation that is not in the catalogue")
	return &catalogue[o.number]
}

// String is the name of the operation.
func (o Operation) String() string { return o.entry().name }

// Class is the class whose connections carry it.
func (o Operation) Class() Class { return o.entry().class }

// Form is the shape of its exchange.
func (o Operation) Form() Form { return o.entry().form }

// Lane is the capacity it draws on.
func (o Operation) Lane() Lane { return o.entry().lane }

// MessageMax bounds one message to whoever serves it, and AnswerMax one back.
func (o Operation) MessageMax() int { return o.entry().request }
func (o Operation) AnswerMax() int  { return o.entry().answer }

// Within bounds the exchange, or its opening where it has no end.
func (o Operation) Within() time.Duration { return o.entry().within }

// Idempotence says why a repeat is harmless.
func (o Operation) Idempotence() string { return o.entry().idem }
