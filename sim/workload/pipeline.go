package workload

import (
	"bytes"
	_ "embed" // first-pipeline.nspl

	"plexus/sim/oracle"
)

// FirstPipeline declares the order pipeline: statements, one after the other.
//
//go:embed first-pipeline.nspl
var FirstPipeline string

// Reference says what the order pipeline makes of each order.
func (s Orders) Reference() oracle.Reference {
	var expected []byte
	return oracle.Reference{
		Leaves: LeafNames[:],
		Expect: func(number uint64) uint8 {
			o := s.Order(number)
			return uint8(o.Leaves())
		},
		Number: OrderNumber,
		Check: func(document []byte, leaf uint8, number uint64) bool {
			o := s.Order(number)
			expected = o.AppendExpected(expected[:0], Leaf(leaf))
			return bytes.HasPrefix(document, expected)
		},
	}
}
