package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"plexus/engine/state/statepb"
	"plexus/engine/strict"
)

// Component is a kind of state an operator owns.
type Component uint8

// The components.
const (
	SourceCursor      Component = iota + 1 // position of a cursor source
	DomainOffsets                          // next offsets of OFFSET BY DOMAIN
	MetricSummaries                        // counters and rates of DESCRIBE
	BranchLifecycle                        // live branches of an entity
	DeduplicatorKeys                       // settled keys
	MaterializedRelay                      // records by branch
	WindowContents                         // retained rows
	GuestState                             // bytes a WASM guest saved
)

var componentNames = [...]string{
	SourceCursor: "source cursor", DomainOffsets: "domain offsets", MetricSummaries: "metric summaries", BranchLifecycle: "branch lifecycle",
	DeduplicatorKeys: "deduplicator keys", MaterializedRelay: "materialized relay", WindowContents: "window contents", GuestState: "guest state",
}

// Valid reports whether the component is one of these.
func (c Component) Valid() bool { return c > 0 && int(c) < len(componentNames) }

func (c Component) String() string {
	if !c.Valid() {
		return fmt.Sprintf("component %d", uint8(c))
	}
	return componentNames[c]
}

// Identity says which state of an entity the committed schedule publishes. State
// under any other fingerprint or generation is of the past.
type Identity struct {
	Domain    string
	Entity    string // kind in snake case: "ingestor"
	Name      string
	Component Component
	// Fingerprint covers what the state is laid out by; zero for components
	// without a layout.
	Fingerprint [32]byte
	// Generation is that of guest state; zero elsewhere.
	Generation uint64
}

// Placement names one state exactly.
type Placement struct {
	Identity
	Branch [32]byte // fingerprint of the concrete branch, zero for none
}

// Compare orders placements.
func (p Placement) Compare(o Placement) int {
	return cmp.Or(cmp.Compare(p.Domain, o.Domain), cmp.Compare(p.Entity, o.Entity), cmp.Compare(p.Name, o.Name),
		cmp.Compare(p.Component, o.Component), slices.Compare(p.Branch[:], o.Branch[:]),
		slices.Compare(p.Fingerprint[:], o.Fingerprint[:]), cmp.Compare(p.Generation, o.Generation))
}

func (p Placement) String() string {
	s := fmt.Sprintf("%s of %s '%s' in domain '%s'", p.Component, p.Entity, p.Name, p.Domain)
	if p.Branch != ([32]byte{}) {
		s += " branch " + hex.EncodeToString(p.Branch[:4])
	}
	if p.Generation != 0 {
		s += fmt.Sprintf(" generation %d", p.Generation)
	}
	return s
}

// Ref names the bytes of one container.
type Ref struct {
	Placement
	Revision uint64
	Fence    uint64
	Length   uint64
	Digest   [32]byte
}

// Newer reports whether the state supersedes another of the same placement: a
// later owner's does, and within one owner the higher revision.
func (r Ref) Newer(o Ref) bool {
	return r.Fence > o.Fence || r.Fence == o.Fence && r.Revision > o.Revision
}

func encodePlacement(p Placement) *statepb.Placement {
	return &statepb.Placement{
		Domain: p.Domain, Entity: p.Entity, Name: p.Name, Component: uint32(p.Component),
		Branch: unlessZero(p.Branch), Fingerprint: unlessZero(p.Fingerprint), Generation: p.Generation,
	}
}

func unlessZero(b [32]byte) []byte {
	if b == ([32]byte{}) {
		return nil
	}
	return b[:]
}

func orZero(field string, b []byte) ([32]byte, error) {
	if len(b) == 0 {
		return [32]byte{}, nil
	}
	return strict.Fixed[[32]byte](field, b)
}

// nameMax bounds the names in a placement.
const nameMax = 255

func decodePlacement(m *statepb.Placement) (p Placement, err error) {
	p.Domain, p.Entity, p.Name, p.Generation = m.GetDomain(), m.GetEntity(), m.GetName(), m.GetGeneration()
	p.Component = Component(m.GetComponent())
	for _, name := range []string{p.Domain, p.Entity, p.Name} {
		if name == "" || len(name) > nameMax {
			return Placement{}, fmt.Errorf("%w: name of a placement", strict.ErrFormat)
		}
	}
	if uint32(p.Component) != m.GetComponent() || !p.Component.Valid() {
		return Placement{}, fmt.Errorf("%w: unknown component %d", strict.ErrFormat, m.GetComponent())
	}
	if p.Branch, err = orZero("branch", m.GetBranch()); err != nil {
		return Placement{}, err
	}
	p.Fingerprint, err = orZero("fingerprint", m.GetFingerprint())
	return p, err
}

// Encode returns the message form of a reference.
func (r Ref) Encode() ([]byte, error) {
	return strict.Encode(&statepb.Ref{
		Placement: encodePlacement(r.Placement), Revision: r.Revision, Fence: r.Fence, Length: r.Length, Sha256: r.Digest[:],
	})
}

// DecodeRef reads a reference.
func DecodeRef(b []byte) (r Ref, err error) {
	m := new(statepb.Ref)
	if err := strict.Decode(b, m); err != nil {
		return Ref{}, err
	}
	if r.Placement, err = decodePlacement(m.GetPlacement()); err != nil {
		return Ref{}, err
	}
	r.Revision, r.Fence, r.Length = m.GetRevision(), m.GetFence(), m.GetLength()
	if r.Length > containerBytesMax {
		return Ref{}, fmt.Errorf("%w: container of %d bytes", strict.ErrFormat, r.Length)
	}
	r.Digest, err = strict.Fixed[[32]byte]("digest", m.GetSha256())
	return r, err
}

// file is the name of the placement's file within its domain.
func (p Placement) file() (string, error) {
	b, err := strict.Encode(encodePlacement(p))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]) + containerSuffix, nil
}
