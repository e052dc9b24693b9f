package quiesce

import (
	"fmt"
	"time"

	"plexus/engine/quiesce/quiescepb"
	"plexus/engine/strict"
	"plexus/nspl/vocab"
)

// Operation is one kind of request between a coordinator and a participant.
type Operation uint8

// The operations, by the names of the interconnect.
const (
	HoldEngage   Operation = iota + 1 // hold.engage
	HoldRelease                       // hold.release
	FlushRequest                      // flush.request
	DrainStatus                       // domain.drain_status
)

var operationNames = [...]string{
	HoldEngage: "hold.engage", HoldRelease: "hold.release",
	FlushRequest: "flush.request", DrainStatus: "domain.drain_status",
}

func (o Operation) String() string { return operationNames[o] }

// request is a decoded request.
type request struct {
	ID         ID
	Floor      uint64
	Scope      Scope
	Lease      time.Duration
	Generation uint64
	Freeze     bool
}

// answer is a decoded answer.
type answer struct {
	Refused *Refusal
	Epoch   [16]byte
	Look    Look
	Freeze  uint64
	Left    time.Duration
}

// listMax bounds every list of a message; a domain holds fewer models.
const listMax = 1 << 14

func encodeRequest(r *request) ([]byte, error) {
	m := &quiescepb.Request{
		Hold:  &quiescepb.Hold{Coordinator: r.ID.Coordinator, Epoch: r.ID.Epoch[:], Sequence: r.ID.Sequence},
		Floor: r.Floor, Lease: int64(r.Lease), Generation: r.Generation, Freeze: r.Freeze,
	}
	if r.Scope.Domain != "" {
		m.Scope = encodeScope(r.Scope)
	}
	return strict.Encode(m)
}

func encodeScope(s Scope) *quiescepb.Scope {
	m := &quiescepb.Scope{
		Domain: s.Domain, Purpose: uint32(s.Purpose), Index: s.Index, Whole: s.Whole, Gates: s.Gates, Force: s.Force,
	}
	for _, e := range s.Sources {
		m.Sources = append(m.Sources, encodeEntity(e))
	}
	for _, e := range s.Drain {
		m.Drain = append(m.Drain, encodeEntity(e))
	}
	for _, b := range s.Branches {
		m.Branches = append(m.Branches, b[:])
	}
	return m
}

func encodeEntity(e Entity) *quiescepb.Entity {
	return &quiescepb.Entity{Kind: uint32(e.Kind), Name: e.Name}
}

func decodeRequest(b []byte) (*request, error) {
	m := new(quiescepb.Request)
	if err := strict.Decode(b, m); err != nil {
		return nil, err
	}
	epoch, err := strict.Fixed[[16]byte]("epoch", m.GetHold().GetEpoch())
	switch {
	case err != nil:
		return nil, err
	case m.GetHold().GetCoordinator() == "" || m.GetHold().GetSequence() == 0:
		return nil, errField("hold")
	case m.GetLease() < 0:
		return nil, errField("lease")
	}
	r := &request{
		ID:    ID{m.GetHold().GetCoordinator(), epoch, m.GetHold().GetSequence()},
		Floor: m.GetFloor(), Lease: time.Duration(m.GetLease()), Generation: m.GetGeneration(), Freeze: m.GetFreeze(),
	}
	if m.GetScope() != nil {
		if r.Scope, err = decodeScope(m.GetScope()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func errField(name string) error { return fmt.Errorf("%w: %s", strict.ErrFormat, name) }

func decodeScope(m *quiescepb.Scope) (Scope, error) {
	s := Scope{
		Domain: m.GetDomain(), Purpose: Purpose(m.GetPurpose()), Index: m.GetIndex(), Whole: m.GetWhole(),
		Gates: m.GetGates(), Force: m.GetForce(),
	}
	switch {
	case s.Domain == "" || m.GetPurpose() < uint32(ForChange) || m.GetPurpose() > uint32(ForStop):
		return Scope{}, errField("scope")
	case len(s.Gates) > listMax || len(m.GetSources()) > listMax || len(m.GetDrain()) > listMax || len(m.GetBranches()) > listMax:
		return Scope{}, errField("list")
	}
	var err error
	if s.Sources, err = decodeEntities(m.GetSources()); err != nil {
		return Scope{}, err
	}
	if s.Drain, err = decodeEntities(m.GetDrain()); err != nil {
		return Scope{}, err
	}
	for _, b := range m.GetBranches() {
		branch, err := strict.Fixed[[32]byte]("branch", b)
		if err != nil {
			return Scope{}, err
		}
		s.Branches = append(s.Branches, branch)
	}
	if !s.equal(s.Canonical()) {
		return Scope{}, errField("scope order")
	}
	return s, nil
}

func decodeEntities(list []*quiescepb.Entity) (entities []Entity, err error) {
	for _, m := range list {
		e, err := decodeEntity(m)
		if err != nil {
			return nil, err
		}
		entities = append(entities, e)
	}
	return entities, nil
}

func decodeEntity(m *quiescepb.Entity) (Entity, error) {
	kind := vocab.EntityKind(m.GetKind())
	if uint32(kind) != m.GetKind() || !kind.Valid() || m.GetName() == "" {
		return Entity{}, errField("entity")
	}
	return Entity{kind, m.GetName()}, nil
}

func encodeAnswer(a *answer) ([]byte, error) {
	if a.Refused != nil {
		return strict.Encode(&quiescepb.Answer{Reason: uint32(a.Refused.Reason), Detail: a.Refused.Detail})
	}
	m := &quiescepb.Answer{
		Epoch: a.Epoch[:], Flushed: a.Look.Flushed, Admitted: a.Look.Admitted, Parked: a.Look.Parked, Obligations: a.Look.Obligations,
		Freeze: a.Freeze, Left: int64(a.Left),
	}
	for _, b := range a.Look.Blockers {
		m.Blockers = append(m.Blockers, &quiescepb.Blocker{Entity: encodeEntity(b.Entity), Work: uint32(b.Work), Count: b.Count})
	}
	return strict.Encode(m)
}

func decodeAnswer(b []byte) (*answer, error) {
	m := new(quiescepb.Answer)
	if err := strict.Decode(b, m); err != nil {
		return nil, err
	}
	if reason := m.GetReason(); reason != 0 {
		if reason > uint32(Malformed) {
			return nil, errField("reason")
		}
		return &answer{Refused: &Refusal{Reason(reason), m.GetDetail()}}, nil
	}
	epoch, err := strict.Fixed[[16]byte]("epoch", m.GetEpoch())
	switch {
	case err != nil:
		return nil, err
	case len(m.GetBlockers()) > listMax || m.GetLeft() < 0:
		return nil, errField("answer")
	}
	a := &answer{Epoch: epoch, Freeze: m.GetFreeze(), Left: time.Duration(m.GetLeft())}
	a.Look = Look{Flushed: m.GetFlushed(), Admitted: m.GetAdmitted(), Parked: m.GetParked(), Obligations: m.GetObligations()}
	for _, m := range m.GetBlockers() {
		e, err := decodeEntity(m.GetEntity())
		if err != nil {
			return nil, err
		}
		if m.GetWork() < uint32(Roots) || m.GetWork() > uint32(Publishes) || m.GetCount() == 0 {
			return nil, errField("blocker")
		}
		a.Look.Blockers = append(a.Look.Blockers, Blocker{e, Work(m.GetWork()), m.GetCount()})
	}
	return a, nil
}
