package flow

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"
)

// note is what a delivery says about the graph of its sender. The receiver may
// execute another revision: a copy must not be finished by consumers that happen
// to be there while one that has just moved to this node is still to come.
type note struct {
	revision uint64
	// meant are the attached consumers of the receiver that the sender knows,
	// ascending; none when the receiver is the owner.
	meant []consumerID
}

// consumerID is the digest of an operator's kind and name: a note has to be
// small.
type consumerID uint64

func idOf(kind, name string) consumerID { return consumerID(xxh3.HashString(kind + " " + name)) }

// meantMax bounds the attached consumers of one relay on one node: what a note
// holds.
const meantMax = 2000

var errNote = errors.New("the note of a delivery does not decode")

func (n note) encode() []byte {
	b := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+8*len(n.meant)), n.revision)
	for _, id := range n.meant {
		b = binary.LittleEndian.AppendUint64(b, uint64(id))
	}
	return b
}

func decodeNote(b []byte) (n note, err error) {
	revision, size := binary.Uvarint(b)
	if size <= 0 || size > 1 && b[size-1] == 0 { // a number has one form
		return note{}, errNote
	}
	n.revision, b = revision, b[size:]
	if len(b)%8 != 0 || len(b) > 8*meantMax {
		return note{}, errNote
	}
	for ; len(b) > 0; b = b[8:] {
		id := consumerID(binary.LittleEndian.Uint64(b))
		if last := len(n.meant) - 1; last >= 0 && n.meant[last] >= id {
			return note{}, errNote
		}
		n.meant = append(n.meant, id)
	}
	return n, nil
}
