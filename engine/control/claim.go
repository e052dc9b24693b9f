package control

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// Endpoints are where a node is reached; an empty one is unavailable.
type Endpoints struct{ Interconnect, Client, Console string }

// Claim is what a process says of itself to be admitted to the group: for the
// first time, or again after a restart.
type Claim struct {
	Format    uint64
	ClusterID string
	Cluster   primitives.UUID // zero while joining
	Node      string
	RaftID    uint64 // 0 while joining
	Counter   uint64
	// Token tells a repeated claim of one process from another process with the
	// same identity and counter. A joiner keeps it until it has a raft id.
	Token     [tokenBytes]byte
	Endpoints Endpoints
}

const tokenBytes = 16

// Admission answers a claim.
type Admission struct {
	RaftID  uint64
	Cluster primitives.UUID
}

// ClaimCase classes the refusals of claims.
type ClaimCase uint8

// The refusals of claims.
const (
	ClaimInvalid      ClaimCase = iota + 1 // a name or an endpoint is missing or malformed
	ClaimOtherCluster                      // the caller belongs to another cluster
	ClaimOtherFormat                       // the caller is another build
	ClaimStateMissing                      // a member without its stored state
	ClaimStale                             // two processes share one identity, or an old copy of the directory was restored
	ClaimDropped                           // the raft id was dropped
	ClaimFull                              // no room for another node
)

// ClaimError is why a claim was refused.
type ClaimError struct {
	Case ClaimCase
	Text string
}

func (e *ClaimError) Error() string { return e.Text }

// Permanent reports whether the same process can never be admitted. The others are
// retried: an operator may make room for the node meanwhile.
func (e *ClaimError) Permanent() bool {
	return e.Case != ClaimStateMissing && e.Case != ClaimFull
}

func refuseClaim(c ClaimCase, format string, args ...any) *ClaimError {
	return &ClaimError{Case: c, Text: fmt.Sprintf(format, args...)}
}

var deterministic = proto.MarshalOptions{Deterministic: true}

// Encode returns the claim as a message between nodes.
func (c Claim) Encode() ([]byte, error) {
	m := &controlpb.Claim{
		Format: c.Format, ClusterId: c.ClusterID, NodeId: c.Node, RaftId: c.RaftID, Counter: c.Counter, Token: c.Token[:],
		Endpoints: &controlpb.Endpoints{Interconnect: c.Endpoints.Interconnect, Client: c.Endpoints.Client, Console: c.Endpoints.Console},
	}
	if c.Cluster != (primitives.UUID{}) {
		m.Cluster = c.Cluster[:]
	}
	return deterministic.Marshal(m)
}

// DecodeClaim reads what Encode wrote.
func DecodeClaim(b []byte) (Claim, error) {
	m := new(controlpb.Claim)
	if err := proto.Unmarshal(b, m); err != nil {
		return Claim{}, fmt.Errorf("%w: claim: %w", ErrMessage, err)
	}
	if len(m.GetToken()) != tokenBytes || len(m.GetCluster()) != 0 && len(m.GetCluster()) != len(primitives.UUID{}) {
		return Claim{}, fmt.Errorf("%w: claim with a token of %d and a cluster UUID of %d bytes", ErrMessage, len(m.GetToken()), len(m.GetCluster()))
	}
	c := Claim{
		Format: m.GetFormat(), ClusterID: m.GetClusterId(), Node: m.GetNodeId(), RaftID: m.GetRaftId(), Counter: m.GetCounter(),
		Token: [tokenBytes]byte(m.GetToken()),
		Endpoints: Endpoints{
			Interconnect: m.GetEndpoints().GetInterconnect(), Client: m.GetEndpoints().GetClient(), Console: m.GetEndpoints().GetConsole(),
		},
	}
	copy(c.Cluster[:], m.GetCluster())
	return c, nil
}

// Encode returns the admission as a message between nodes.
func (a Admission) Encode() ([]byte, error) {
	return deterministic.Marshal(&controlpb.Admission{RaftId: a.RaftID, Cluster: a.Cluster[:]})
}

// DecodeAdmission reads what Encode wrote.
func DecodeAdmission(b []byte) (Admission, error) {
	m := new(controlpb.Admission)
	if err := proto.Unmarshal(b, m); err != nil {
		return Admission{}, fmt.Errorf("%w: admission: %w", ErrMessage, err)
	}
	if m.GetRaftId() == 0 || len(m.GetCluster()) != len(primitives.UUID{}) {
		return Admission{}, fmt.Errorf("%w: admission without a raft id or a cluster UUID", ErrMessage)
	}
	return Admission{RaftID: m.GetRaftId(), Cluster: primitives.UUID(m.GetCluster())}, nil
}

// EncodeRefusal returns why a claim was not admitted as a message between nodes.
func EncodeRefusal(err error) ([]byte, error) {
	m := &controlpb.ClaimRefusal{Text: err.Error()}
	var refused *ClaimError
	var elsewhere *NotLeaderError
	switch {
	case errors.As(err, &refused):
		m.Case = uint32(refused.Case)
	case errors.As(err, &elsewhere):
		m.Leader, m.LeaderNode, m.LeaderInterconnect = elsewhere.Leader, elsewhere.Node, elsewhere.Interconnect
	}
	return deterministic.Marshal(m)
}

// DecodeRefusal returns the error that EncodeRefusal was given: a *ClaimError, or a
// *NotLeaderError for everything that may succeed at another time or place.
func DecodeRefusal(b []byte) error {
	m := new(controlpb.ClaimRefusal)
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%w: refusal: %w", ErrMessage, err)
	}
	switch c := ClaimCase(m.GetCase()); {
	case m.GetCase() > uint32(ClaimFull):
		return fmt.Errorf("%w: refusal of case %d", ErrMessage, m.GetCase())
	case c != 0:
		return &ClaimError{Case: c, Text: m.GetText()}
	}
	return &NotLeaderError{Leader: m.GetLeader(), Node: m.GetLeaderNode(), Interconnect: m.GetLeaderInterconnect()}
}
