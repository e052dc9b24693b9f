package handoff

import (
	"fmt"
	"time"

	"plexus/engine/handoff/handoffpb"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/engine/strict"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Operation is one kind of request.
type Operation uint8

// The operations, by the names of the interconnect.
const (
	Capture      Operation = iota + 1 // handoff.capture, to the source
	Prepare                           // handoff.prepare, to the destination; recovery.prepare without a source
	Confirm                           // handoff.confirm, to the destination
	Discard                           // handoff.discard, to both
	Reconcile                         // handoff.reconcile, to everyone
	StateCatalog                      // state.catalog, to everyone who may have a replica
)

var operationNames = [...]string{
	Capture: "handoff.capture", Prepare: "handoff.prepare", Confirm: "handoff.confirm", Discard: "handoff.discard",
	Reconcile: "handoff.reconcile", StateCatalog: "state.catalog",
}

func (o Operation) String() string { return operationNames[o] }

// request is a decoded request.
type request struct {
	Binding Binding // zero for reconcile and catalog
	Freeze  uint64
	Within  time.Duration
	Origins []Origin
	Index   uint64
	Domain  string // of the catalog
	Entity  quiesce.Entity
}

// answer is a decoded answer.
type answer struct {
	Refused *Refusal
	Process quiesce.Process
	Refs    []state.Ref
	Listed  []Listed
}

// Listed is one preparation of a node.
type Listed struct {
	Binding   Binding
	Held      bool // its hold is engaged there
	Committed bool // the applied schedule names its transition
}

// listMax bounds every list of a message.
const listMax = 1 << 14

func malformed(what string) error { return fmt.Errorf("%w: %s", strict.ErrFormat, what) }

func encodeProcess(p quiesce.Process) *handoffpb.Process {
	return &handoffpb.Process{Node: p.Node, RaftId: p.RaftID, Counter: p.Counter, Epoch: p.Epoch[:]}
}

func decodeProcess(m *handoffpb.Process) (quiesce.Process, error) {
	epoch, err := strict.Fixed[[16]byte]("epoch", m.GetEpoch())
	return quiesce.Process{Node: m.GetNode(), RaftID: m.GetRaftId(), Counter: m.GetCounter(), Epoch: epoch}, err
}

func encodeBinding(b *Binding) *handoffpb.Binding {
	return &handoffpb.Binding{
		Coordinator: encodeProcess(b.Coordinator), Sequence: b.Sequence, Transition: b.Transition[:], Domain: b.Domain,
		Kind: b.Entity.Kind.Snake(), Name: b.Entity.Name, Source: encodeProcess(b.Source), Destination: encodeProcess(b.Destination),
		Base: b.Base, Target: b.Target[:],
	}
}

func decodeBinding(m *handoffpb.Binding) (b Binding, err error) {
	if b.Coordinator, err = decodeProcess(m.GetCoordinator()); err != nil {
		return Binding{}, err
	}
	if b.Source, err = decodeProcess(m.GetSource()); err != nil {
		return Binding{}, err
	}
	if b.Destination, err = decodeProcess(m.GetDestination()); err != nil {
		return Binding{}, err
	}
	transition, err := strict.Fixed[[16]byte]("transition", m.GetTransition())
	if err != nil {
		return Binding{}, err
	}
	if b.Target, err = strict.Fixed[[32]byte]("target", m.GetTarget()); err != nil {
		return Binding{}, err
	}
	b.Transition, b.Sequence, b.Domain, b.Base = primitives.UUID(transition), m.GetSequence(), m.GetDomain(), m.GetBase()
	if b.Entity, err = decodeEntity(m.GetKind(), m.GetName()); err != nil {
		return Binding{}, err
	}
	if b.Domain == "" || b.Destination.Node == "" || b.Coordinator.Node == "" {
		return Binding{}, malformed("binding")
	}
	return b, nil
}

func decodeEntity(kind, name string) (quiesce.Entity, error) {
	for k := vocab.EntityKind(1); k.Valid(); k++ {
		if k.Snake() == kind && name != "" {
			return quiesce.Entity{Kind: k, Name: name}, nil
		}
	}
	return quiesce.Entity{}, malformed("entity")
}

func encodeRequest(r *request) ([]byte, error) {
	m := &handoffpb.Request{Freeze: r.Freeze, Within: int64(r.Within), Index: r.Index}
	if r.Binding.Domain != "" {
		m.Binding = encodeBinding(&r.Binding)
	}
	for _, o := range r.Origins {
		ref, err := o.Ref.Encode()
		if err != nil {
			return nil, err
		}
		m.Origins = append(m.Origins, &handoffpb.Origin{Ref: ref, Node: o.Node})
	}
	if r.Domain != "" {
		m.Entity = &handoffpb.Entity{Domain: r.Domain, Kind: r.Entity.Kind.Snake(), Name: r.Entity.Name}
	}
	return strict.Encode(m)
}

func decodeRequest(op Operation, b []byte) (*request, error) {
	m := new(handoffpb.Request)
	if err := strict.Decode(b, m); err != nil {
		return nil, err
	}
	r := &request{Freeze: m.GetFreeze(), Within: time.Duration(m.GetWithin()), Index: m.GetIndex()}
	var err error
	switch op {
	case Reconcile:
	case StateCatalog:
		r.Domain = m.GetEntity().GetDomain()
		if r.Entity, err = decodeEntity(m.GetEntity().GetKind(), m.GetEntity().GetName()); err != nil {
			return nil, err
		}
		if r.Domain == "" {
			return nil, malformed("domain")
		}
	default:
		if r.Binding, err = decodeBinding(m.GetBinding()); err != nil {
			return nil, err
		}
	}
	if r.Within < 0 || len(m.GetOrigins()) > listMax {
		return nil, malformed("request")
	}
	for _, o := range m.GetOrigins() {
		ref, err := state.DecodeRef(o.GetRef())
		if err != nil {
			return nil, err
		}
		r.Origins = append(r.Origins, Origin{ref, o.GetNode()})
	}
	return r, nil
}

func encodeAnswer(a *answer) ([]byte, error) {
	if a.Refused != nil {
		return strict.Encode(&handoffpb.Answer{Reason: uint32(a.Refused.Reason), Detail: a.Refused.Detail})
	}
	m := &handoffpb.Answer{Process: encodeProcess(a.Process)}
	for _, r := range a.Refs {
		ref, err := r.Encode()
		if err != nil {
			return nil, err
		}
		m.Refs = append(m.Refs, ref)
	}
	for i := range a.Listed {
		l := &a.Listed[i]
		m.Listed = append(m.Listed, &handoffpb.Listed{Binding: encodeBinding(&l.Binding), Held: l.Held, Committed: l.Committed})
	}
	return strict.Encode(m)
}

func decodeAnswer(b []byte) (*answer, error) {
	m := new(handoffpb.Answer)
	if err := strict.Decode(b, m); err != nil {
		return nil, err
	}
	if reason := m.GetReason(); reason != 0 {
		if reason > uint32(Malformed) {
			return nil, malformed("reason")
		}
		return &answer{Refused: &Refusal{Reason(reason), m.GetDetail()}}, nil
	}
	a := new(answer)
	var err error
	if a.Process, err = decodeProcess(m.GetProcess()); err != nil {
		return nil, err
	}
	if len(m.GetRefs()) > listMax || len(m.GetListed()) > listMax {
		return nil, malformed("list")
	}
	for _, b := range m.GetRefs() {
		ref, err := state.DecodeRef(b)
		if err != nil {
			return nil, err
		}
		a.Refs = append(a.Refs, ref)
	}
	for _, l := range m.GetListed() {
		binding, err := decodeBinding(l.GetBinding())
		if err != nil {
			return nil, err
		}
		a.Listed = append(a.Listed, Listed{binding, l.GetHeld(), l.GetCommitted()})
	}
	return a, nil
}
