package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plexus/primitives"
)

// World opens one stage per scenario and says what it cannot do.
type World interface {
	Name() string
	// Missing returns why the world has no external system of the kind, or "".
	Missing(kind string) string
	// Lacks returns why the world cannot do what a tag of the scenario asks for,
	// or "". Tags are given without the @.
	Lacks(tag string) string
	Open(Scenario) (Stage, error)
	Close() error
}

// Scenario identifies one run of one example.
type Scenario struct {
	Feature string // path of the file below features/
	Name    string
	Nodes   int
	// Seed selects the schedule in a simulated world.
	Seed uint64
	// ID is the token that replaces <id>; it is unique within the run.
	ID string
	// Folder receives artifacts when the scenario fails.
	Folder string
	// Tags are those of the scenario, without the @.
	Tags []string
}

// Tagged reports whether the scenario has a tag, or one below it: fault:link
// covers fault:link_slow.
func (s Scenario) Tagged(tag string) bool {
	return slices.ContainsFunc(s.Tags, func(t string) bool { return t == tag || strings.HasPrefix(t, tag+"_") })
}

// Stage is what one scenario acts on.
type Stage interface {
	// Do runs the body of one step and returns its error. In a simulated world the
	// body is a driver task and virtual time stands still between calls.
	Do(step string, body func(ctx context.Context) error) error
	// World is where steps wait, dial and listen: a machine outside the cluster.
	World() primitives.World
	Limits() Limits

	// StartCluster starts the nodes, the first one as the founder, and waits until
	// each is ready.
	StartCluster(ctx context.Context, nodes int, settings Settings) error
	// Join starts one more node that asks the cluster to admit it, and does not wait.
	Join(ctx context.Context, name string, settings Settings) (Node, error)
	// Nodes returns the nodes in name order; empty before StartCluster.
	Nodes() []Node
	// Client opens a session on the first of several nodes that takes it; it goes on
	// at others when it must. Its rows and replies arrive on World.
	Client(ctx context.Context, c Credentials, nodes []Node, domain string) (Session, error)
	// Credentials are those of the user every cluster starts with.
	Credentials() Credentials
	System(ctx context.Context, kind string) (System, error)

	// Close heals what is broken, lets the world settle, checks what must hold
	// then and ends everything the stage started. A failed scenario leaves its
	// artifacts in the folder first.
	Close(failed bool) error
}

// Limits are how long a world lets steps wait.
type Limits struct {
	// Patience bounds an assertion that has no bound of its own.
	Patience time.Duration
	// Poll is the time between two looks.
	Poll time.Duration
	// PassMax bounds the step that lets time pass.
	PassMax time.Duration
}

// Machines is a stage whose nodes run on machines it can hurt.
type Machines interface {
	// LosePower ends the node and what its disk had not synchronised.
	LosePower(Node) error
	// FillDisk makes every write fail for want of room, or stops that.
	FillDisk(n Node, full bool) error
	// FailSync makes the next synchronisation fail.
	FailSync(Node) error
	SlowDisk(n Node, by time.Duration) error
	// JumpClock moves the wall clock; the monotonic clock goes on as it was.
	JumpClock(n Node, by time.Duration) error
}

// Links is a stage that can hurt the way from one node to another. Clients and
// external systems are not touched.
type Links interface {
	// CutLink lets nothing pass from one node to the other.
	CutLink(from, to Node) error
	SlowLink(from, to Node, by time.Duration) error
	// HealLink makes the way good again; what was on it arrives.
	HealLink(from, to Node) error
	// BreakLink breaks the connection that carries the nth byte from now on.
	BreakLink(from, to Node, bytes int) error
	// HideName keeps the name of a node from resolving for every other one, or shows
	// it again.
	HideName(n Node, hidden bool) error
}

// Certificates is a stage whose nodes prove themselves to each other with
// certificates, in scenarios tagged @tls.
type Certificates interface {
	// Certify gives a node, which may not have joined yet, another certificate.
	Certify(node string, c Certificate) error
}

// Certificate is one that a node gets; the zero value is a good one.
type Certificate struct {
	None    bool          // the node has none any more
	Of      string        // it names another node
	Foreign bool          // of another authority, which the node trusts
	Ends    time.Duration // how long from now it is valid
}

// Setting is one flag of the daemon without its dashes.
type Setting struct{ Name, Value string }

// Settings are flags in the order written.
type Settings []Setting

// Replaced returns these settings and others; of a name that occurs twice the last
// one counts, because the daemon takes no flag twice.
func (s Settings) Replaced(others Settings) Settings {
	all := append(slices.Clip(s), others...)
	var kept Settings
	for i, setting := range all {
		if !slices.ContainsFunc(all[i+1:], func(later Setting) bool { return later.Name == setting.Name }) {
			kept = append(kept, setting)
		}
	}
	return kept
}

// Credentials name a user.
type Credentials struct{ User, Password string }

// Node is one member of the cluster.
type Node interface {
	Name() string
	Running() bool
	// Frozen reports whether the process stands still.
	Frozen() bool
	// Exited returns the exit status of a process that ended by itself.
	Exited() (status int, ended bool)
	// Kill ends the process with no chance to do anything.
	Kill(ctx context.Context) error
	// Stop asks the process to stop and returns its exit status.
	Stop(ctx context.Context) (int, error)
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Start starts the node again on its storage and does not wait.
	Start(ctx context.Context) error
	// Ready waits until the node serves. It fails when its process ends before.
	Ready(ctx context.Context) error
	// Wipe empties the storage of a node that does not run; CopyStorage keeps a copy
	// of it and PutStorageBack replaces it by that.
	Wipe(ctx context.Context) error
	CopyStorage(ctx context.Context) error
	PutStorageBack(ctx context.Context) error
	// DamageStorage hurts the files of a node that does not run.
	DamageStorage(ctx context.Context, damage StorageDamage) error
	// EndpointAddress is where the node takes HTTP requests of endpoints.
	EndpointAddress() string
	// InterconnectAddress is where the node listens for other nodes.
	InterconnectAddress() string
	// ObservabilityAddress serves health and metrics; "" where there is none.
	ObservabilityAddress() string
	Metrics(ctx context.Context) (Metrics, error)
	// Logs returns what the node logged so far.
	Logs() string
}

// StorageDamage is something that happened to the files of a node.
type StorageDamage string

// The damages of storage.
const (
	TornLog      StorageDamage = "torn_log"      // power went while a record of the consensus log was being written
	FlippedLog   StorageDamage = "flipped_log"   // one bit in the middle of the consensus log changed
	LaterVersion StorageDamage = "later_version" // a later version of the product wrote the directory
)

// Session is one user's session with a node.
type Session interface {
	// Domain is the selected domain.
	Domain() string
	// Execute sends one request. A refused statement is a Reply, not an error.
	Execute(ctx context.Context, statements string) (Reply, error)
	// ExecuteAs sends one request under an execution reference of an earlier one.
	ExecuteAs(ctx context.Context, reference, statements string) (Reply, error)
	// Subscribe runs a CREATE SUBSCRIPTION statement and delivers its rows as JSON.
	Subscribe(ctx context.Context, statement string) (Subscription, error)
	// Suggest lists what can be written at a byte offset of a text, one suggestion a
	// line with its kind before it; or the status that says why not.
	Suggest(ctx context.Context, text string, cursor int) (string, error)
	// Close ends the session cleanly, Drop without a word.
	Close(ctx context.Context) error
	Drop()
}

// Reply answers one request.
type Reply struct {
	Disposition string
	// Reference is the execution reference, Origin whether it was executed now.
	Reference, Origin string
	Text              string
	// Document is the typed reply in JSON's terms; nil where there is none.
	Document any
	// Refusal is the rendered diagnostic of a failed request: message, line, caret
	// and hint; "" when it completed.
	Refusal string
	// Faults are the diagnostics of a failed request, in their order.
	Faults []Fault
}

// Fault is one diagnostic.
type Fault struct {
	Code   string
	Entity string // kind and name, "" where it is about none
}

// Completed reports whether the request did what it asked for.
func (r Reply) Completed() bool { return r.Disposition == "COMPLETED" }

// Subscription is a stream of rows.
type Subscription interface {
	// Rows returns every row received so far, each a JSON object.
	Rows() []string
	// Lost is the number of rows the server said it dropped.
	Lost() uint64
	// Ended is why the stream ended, "" while it runs.
	Ended() string
	Close(ctx context.Context) error
}

// Destination is one addressable thing of an external system.
type Destination struct {
	Kind string // nats, redis, http
	Noun string // stream, subject, channel, path
	Name string
}

func (d Destination) String() string { return fmt.Sprintf("%s %s %q", d.Kind, d.Noun, d.Name) }

// Record is one message of an external system.
type Record struct {
	Payload string
	// Headers are "name: value" lines in the order they arrived.
	Headers []string
}

// Damage is a way an external system misbehaves towards the nodes.
type Damage string

// The damages. A world refuses those it cannot do; their @fault tags keep the
// scenario away.
const (
	Refuse     Damage = "refuse"      // every attempt is turned down for now
	Hang       Damage = "hang"        // attempts are taken and not answered
	LoseAnswer Damage = "lose_answer" // the next attempt takes effect, its answer does not arrive
	Cut        Damage = "cut"         // open connections break, new ones work
	RefuseSome Damage = "refuse_some" // attempts whose payload contains a text are turned down for now
	RejectSome Damage = "reject_some" // such attempts are turned down for good
)

// System is an external system, seen from outside.
type System interface {
	// Address is what a client's configuration names to reach the destination;
	// damage to a destination hurts exactly those who came by its address.
	Address(d Destination) (string, error)
	// Create makes the destination, or starts to listen to it.
	Create(ctx context.Context, d Destination, options map[string]string) error
	Produce(ctx context.Context, d Destination, records []Record) error
	// Received returns what arrived at the destination so far, in order, without the
	// first so many records.
	Received(ctx context.Context, d Destination, without int) ([]Record, error)
	// AcknowledgedThrough returns the last position such that it and every earlier
	// one is acknowledged, counting from 1.
	AcknowledgedThrough(ctx context.Context, d Destination) (uint64, error)
	Break(ctx context.Context, d Destination, damage Damage, text string) error
	Heal(ctx context.Context, d Destination) error
}

// Metrics maps a series, name{label="value",...} with sorted labels, to its value.
type Metrics map[string]float64

// Sum adds the series of a name whose labels include those given, each written
// label="value", and reports whether there is any.
func (m Metrics) Sum(name string, labels []string) (sum float64, found bool) {
	for series, value := range m { //plexus:orderfree sums
		base, rest, _ := strings.Cut(series, "{")
		if base != name {
			continue
		}
		rest = "," + strings.TrimSuffix(rest, "}") + ","
		matches := true
		for _, label := range labels {
			matches = matches && strings.Contains(rest, ","+label+",")
		}
		if matches {
			sum += value
			found = true
		}
	}
	return sum, found
}
