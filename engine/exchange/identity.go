package exchange

import (
	"fmt"

	"plexus/engine/interconnect"
)

// Process is one process of a cluster node, Epoch what tells it apart from every
// other.
type (
	Process = interconnect.Process
	Epoch   = interconnect.Epoch
)

// Role says which end of a relay receives.
type Role uint8

// The roles.
const (
	ToOwner     Role = iota + 1 // a producer's node delivers to the owner of the relay
	ToConsumers                 // the owner delivers to a node with consumers or subscriptions
)

// String returns the role in words.
func (r Role) String() string {
	switch r {
	case ToOwner:
		return "to the owner"
	case ToConsumers:
		return "to consumers"
	}
	return "no role"
}

// Channel is one ordered path of batches: at most one of them awaits admission.
type Channel struct {
	Node          string // the receiver
	Role          Role
	Domain, Relay string
	Branch        string // fingerprint of the concrete branch; empty when unbranched
}

// String names the channel. It holds no key value.
func (c Channel) String() string {
	branch := ""
	if c.Branch != "" {
		branch = " branch " + c.Branch
	}
	return fmt.Sprintf("relay %s.%s%s %v on %s", c.Domain, c.Relay, branch, c.Role, c.Node)
}

// Identity names one delivery of a sender's run. Incarnations are unique in a
// run, across its channels.
type Identity struct {
	Incarnation uint64
	Sequence    uint64
}

// Registration is where the sender keeps the shares of a delivery. A report that
// names another run, position or generation resolves nothing.
type Registration struct {
	Position   uint32
	Generation uint32 // from 1; zero says that no row has a share
}

// Row numbers carry a position of the registry, a generation and a row.
const (
	positionBits   = 13
	rowBits        = 20
	generationBits = 64 - positionBits - rowBits

	// RowsMax bounds the rows of one body.
	RowsMax = 1 << rowBits
)

// Number is the acknowledgement number of a row.
func (r Registration) Number(row int32) uint64 {
	return uint64(r.Position)<<(generationBits+rowBits) | uint64(r.Generation)<<rowBits | uint64(row)
}

// RegistrationOf takes a number apart.
func RegistrationOf(number uint64) (r Registration, row int32) {
	return Registration{
		Position:   uint32(number >> (generationBits + rowBits)),
		Generation: uint32(number>>rowBits) & (1<<generationBits - 1),
	}, int32(number & (RowsMax - 1))
}
