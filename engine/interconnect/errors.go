package interconnect

import (
	"errors"
	"fmt"
)

// RefusalClass says what a refusal means for the caller.
type RefusalClass uint8

// The classes of refusal.
const (
	Rejected    RefusalClass = iota + 1 // this node does not serve it: resolve the owner again
	Unavailable                         // it does not exist here
	NotReady                            // the same request can succeed later
	Failed                              // it ran and lost
)

var refusalNames = [...]string{"", "rejected", "unavailable", "not ready", "failed"}

func (c RefusalClass) String() string {
	if c >= Rejected && c <= Failed {
		return refusalNames[c]
	}
	return "unknown refusal"
}

// Refusal is the typed answer of a handler that did not do what it was asked.
// Callers decide on class and subject, never on the text.
type Refusal struct {
	Class   RefusalClass
	Subject string
	Detail  string
}

func (r *Refusal) Error() string {
	if r.Detail == "" {
		return fmt.Sprintf("%s: %s", r.Class, r.Subject)
	}
	return fmt.Sprintf("%s: %s: %s", r.Class, r.Subject, r.Detail)
}

// Refused returns the refusal that an error is, if it is one.
func Refused(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}

// Phase is where an exchange broke.
type Phase uint8

// The phases.
const (
	PhaseResolve        Phase = iota + 1 // no address, or none that accepts
	PhaseSetup                           // the setup exchange did not end
	PhaseAuthentication                  // the identities do not fit
	PhaseAdmission                       // no capacity here or there
	PhaseEncode                          // the message is larger than its limit
	PhaseDecode                          // the peer, or this node, could not read it
	PhaseFlow                            // the connection was lost
	PhaseTimeout                         // the deadline came first
	PhaseDeparted                        // that process is gone
)

var phaseNames = [...]string{"", "resolve", "setup", "authentication", "admission", "encode", "decode", "flow", "timeout", "target departed"}

func (p Phase) String() string { return phaseNames[p] }

// TransportError is a failure of the exchange itself. It says nothing about
// whether the operation ran.
type TransportError struct {
	Phase     Phase
	Node      string // or the endpoint of a seed
	Operation string // empty outside an exchange
	Err       error
}

func (e *TransportError) Error() string {
	what := e.Operation
	if what == "" {
		what = "connection"
	}
	if e.Err == nil {
		return fmt.Sprintf("%s with '%s': %s", what, e.Node, e.Phase)
	}
	return fmt.Sprintf("%s with '%s': %s: %v", what, e.Node, e.Phase, e.Err)
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// InPhase reports whether an error is a transport failure of that phase.
func InPhase(err error, p Phase) bool {
	var t *TransportError
	return errors.As(err, &t) && t.Phase == p
}

// SetupCode says why a connection was not accepted.
type SetupCode uint8

// The codes.
const (
	SetupMalformed   SetupCode = iota + 1 // the bytes are no setup exchange
	SetupFormat                           // another build
	SetupCluster                          // another cluster
	SetupCertificate                      // the certificate names somebody else
	SetupIdentity                         // the node is known under another raft id
	SetupRemoved                          // the node was dropped
	SetupStale                            // an older incarnation than the admitted one
	SetupDuplicate                        // two processes share one incarnation
	SetupStranger                         // no member, and the class is for members
	SetupMisdirected                      // somebody else was expected here
	SetupClass                            // no such class or slot
	SetupBusy                             // too many connections or handshakes
	SetupStopping                         // the node stops
	SetupTransport                        // plaintext met TLS
	SetupUnproven                         // it does not know of the admission of the member it says it is
	setupCodes
)

var setupNames = [setupCodes]string{
	"", "malformed", "format", "cluster", "certificate", "identity", "removed", "stale incarnation", "duplicate process", "stranger", "misdirected",
	"class", "busy", "stopping", "transport security", "unproven",
}

func (c SetupCode) String() string {
	if c > 0 && c < setupCodes {
		return setupNames[c]
	}
	return "unknown"
}

// Permanent reports whether trying again cannot help: something must be changed
// by a person first.
func (c SetupCode) Permanent() bool {
	switch c {
	case SetupFormat, SetupCluster, SetupCertificate, SetupRemoved:
		return true
	}
	return false
}

// SetupError says that one side refused the other during connection setup.
type SetupError struct {
	Code   SetupCode
	Detail string
	Remote bool // the peer refused this node
}

func (e *SetupError) Error() string {
	who := "refused the peer"
	if e.Remote {
		who = "refused by the peer"
	}
	return fmt.Sprintf("%s (%s): %s", who, e.Code, e.Detail)
}

var (
	// ErrMalformed says that received bytes are no frame of the protocol, or a
	// frame at the wrong place.
	ErrMalformed = errors.New("malformed frame")
	// ErrTooLarge says that a message exceeds the limit of its operation.
	ErrTooLarge = errors.New("message too large")
	// ErrLost says that the connection ended within an exchange.
	ErrLost = errors.New("connection lost")
	// ErrSilent says that a peer did not answer a ping in time.
	ErrSilent = errors.New("the peer is silent")
	// ErrUnknownNode says that no member has the node id.
	ErrUnknownNode = errors.New("no such member")
	// ErrStopped says that the interconnect of this node stops.
	ErrStopped = errors.New("the interconnect is stopping")
	// ErrSuperseded says that a newer process of the node took its place.
	ErrSuperseded = errors.New("a newer process of the node took its place")
	// ErrWithdrawn says that the peer gave the exchange up.
	ErrWithdrawn = errors.New("the peer gave the exchange up")
	// ErrNoProgress says that a transfer stood still for too long.
	ErrNoProgress = errors.New("no progress")
	// ErrForm says that an operation was used in another form than its own.
	ErrForm = errors.New("the operation has another form")
	// ErrHTTP says that what answers is no interconnect.
	ErrHTTP = errors.New("an HTTP server answers, as at the client port of a node; name the interconnect port, which is 47395 unless --interconnect-listen says otherwise")
	// ErrInsecure says that plain bytes would leave the machine without leave.
	ErrInsecure = errors.New("plaintext outside loopback needs certificates or --interconnect-insecure")
)
