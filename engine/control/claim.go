package control

import (
	"errors"
	"fmt"

	"plexus/engine/control/controlpb"
	"plexus/engine/strict"
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
	// same identity and counter. A directory keeps it until a claim of it was admitted.
	Token [tokenBytes]byte
	// Admitted are the tokens under which the directory was admitted before, the
	// newest last, at most admittedMax.
	Admitted  [][tokenBytes]byte
	Endpoints Endpoints
}

const (
	tokenBytes = 16
	// admittedMax is how many admissions a directory remembers: a member that was
	// away for more starts of another one takes it for a stranger until it caught up.
	admittedMax = 16
)

// Admission answers a claim.
type Admission struct {
	RaftID  uint64
	Cluster primitives.UUID
	// Members are the nodes of the group: a new one has to answer them before its
	// own state names them.
	Members []Member
}

// Member is a node of the group, as the leader knows it.
type Member struct {
	Node         string
	RaftID       uint64
	Interconnect string
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

// ClaimError is why a claim was refused. It is final for the process: trying again
// helps only after somebody did something, which the text says, so the process ends
// with it instead of waiting where nobody looks.
type ClaimError struct {
	Case ClaimCase
	Text string
}

func (e *ClaimError) Error() string { return e.Text }

// RefuseClaim is the refusal of a case by somebody else than the leader: a member
// need not ask it to know whom it cannot admit.
func RefuseClaim(c ClaimCase, text string) *ClaimError { return &ClaimError{Case: c, Text: text} }

func refuseClaim(c ClaimCase, format string, args ...any) *ClaimError {
	return &ClaimError{Case: c, Text: fmt.Sprintf(format, args...)}
}

// Encode returns the claim as a message between nodes.
func (c Claim) Encode() ([]byte, error) {
	m := &controlpb.Claim{
		Format: c.Format, ClusterId: c.ClusterID, NodeId: c.Node, RaftId: c.RaftID, Counter: c.Counter, Token: c.Token[:],
		Endpoints: &controlpb.Endpoints{Interconnect: c.Endpoints.Interconnect, Client: c.Endpoints.Client, Console: c.Endpoints.Console},
	}
	if c.Cluster != (primitives.UUID{}) {
		m.Cluster = c.Cluster[:]
	}
	for i := range c.Admitted {
		m.Admitted = append(m.Admitted, c.Admitted[i][:])
	}
	return strict.Encode(m)
}

// DecodeClaim reads what Encode wrote.
func DecodeClaim(b []byte) (Claim, error) {
	m := new(controlpb.Claim)
	if err := strict.Decode(b, m); err != nil {
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
	if len(m.GetAdmitted()) > admittedMax {
		return Claim{}, fmt.Errorf("%w: claim with %d admissions", ErrMessage, len(m.GetAdmitted()))
	}
	for _, token := range m.GetAdmitted() {
		if len(token) != tokenBytes {
			return Claim{}, fmt.Errorf("%w: claim with a token of %d bytes", ErrMessage, len(token))
		}
		c.Admitted = append(c.Admitted, [tokenBytes]byte(token))
	}
	return c, nil
}

func (a Admission) proto() *controlpb.Admission {
	m := &controlpb.Admission{RaftId: a.RaftID, Cluster: a.Cluster[:]}
	for _, one := range a.Members {
		m.Members = append(m.Members, &controlpb.Member{NodeId: one.Node, RaftId: one.RaftID, Interconnect: one.Interconnect})
	}
	return m
}

func admissionOf(m *controlpb.Admission) (Admission, error) {
	if m.GetRaftId() == 0 || len(m.GetCluster()) != len(primitives.UUID{}) {
		return Admission{}, fmt.Errorf("%w: admission without a raft id or a cluster UUID", ErrMessage)
	}
	a := Admission{RaftID: m.GetRaftId(), Cluster: primitives.UUID(m.GetCluster())}
	for _, one := range m.GetMembers() {
		a.Members = append(a.Members, Member{Node: one.GetNodeId(), RaftID: one.GetRaftId(), Interconnect: one.GetInterconnect()})
	}
	return a, nil
}

// EncodeAnswer returns the answer to a claim, an admission or why there is none, as
// a message between nodes.
func EncodeAnswer(a Admission, err error) ([]byte, error) {
	answer := &controlpb.ClaimAnswer{Body: &controlpb.ClaimAnswer_Admission{Admission: a.proto()}}
	if err != nil {
		answer.Body = &controlpb.ClaimAnswer_Refusal{Refusal: refusalOf(err)}
	}
	return strict.Encode(answer)
}

// DecodeAnswer reads what EncodeAnswer wrote. The error of a claim that was not
// admitted is a *ClaimError, or a *NotLeaderError for everything that may succeed
// at another time or place.
func DecodeAnswer(b []byte) (Admission, error) {
	m := new(controlpb.ClaimAnswer)
	if err := strict.Decode(b, m); err != nil {
		return Admission{}, fmt.Errorf("%w: answer to a claim: %w", ErrMessage, err)
	}
	if refusal := m.GetRefusal(); refusal != nil {
		return Admission{}, refusalError(refusal)
	}
	return admissionOf(m.GetAdmission())
}

// EncodeSectionRequest asks for one section of a snapshot.
func EncodeSectionRequest(id SnapshotID, section int) ([]byte, error) {
	return strict.Encode(&controlpb.SectionRequest{Index: id.Index, Term: id.Term, Section: uint32(section)})
}

// DecodeSectionRequest reads what EncodeSectionRequest wrote.
func DecodeSectionRequest(b []byte) (SnapshotID, int, error) {
	m := new(controlpb.SectionRequest)
	if err := strict.Decode(b, m); err != nil {
		return SnapshotID{}, 0, fmt.Errorf("%w: request of a section: %w", ErrMessage, err)
	}
	return SnapshotID{Index: m.GetIndex(), Term: m.GetTerm()}, int(m.GetSection()), nil
}

func refusalOf(err error) *controlpb.ClaimRefusal {
	m := &controlpb.ClaimRefusal{Text: err.Error()}
	var refused *ClaimError
	var elsewhere *NotLeaderError
	switch {
	case errors.As(err, &refused):
		m.Case = uint32(refused.Case)
	case errors.As(err, &elsewhere):
		m.Leader, m.LeaderNode, m.LeaderInterconnect = elsewhere.Leader, elsewhere.Node, elsewhere.Interconnect
	}
	return m
}

func refusalError(m *controlpb.ClaimRefusal) error {
	switch c := ClaimCase(m.GetCase()); {
	case m.GetCase() > uint32(ClaimFull):
		return fmt.Errorf("%w: refusal of case %d", ErrMessage, m.GetCase())
	case c != 0:
		return &ClaimError{Case: c, Text: m.GetText()}
	}
	return &NotLeaderError{Leader: m.GetLeader(), Node: m.GetLeaderNode(), Interconnect: m.GetLeaderInterconnect()}
}
