package workload

import (
	"bytes"
	_ "embed" // the scripts

	"plexus/sim/oracle"
)

// FirstPipeline declares the order pipeline: statements, one after the other.
//
//go:embed first-pipeline.nspl
var FirstPipeline string

// CursorPipeline declares a pipeline whose source is a generator with a cursor.
//
//go:embed cursor-pipeline.nspl
var CursorPipeline string

// EndpointPipeline declares a pipeline whose source is an HTTP endpoint.
//
//go:embed endpoint-pipeline.nspl
var EndpointPipeline string

// Reference says what the order pipeline makes of each order.
func (s Orders) Reference() oracle.Reference {
	var expected []byte
	latest := s.Order(0) // most questions are about the order of the one before
	order := func(number uint64) *Order {
		if latest.Number != number {
			latest = s.Order(number)
		}
		return &latest
	}
	return oracle.Reference{
		Leaves: LeafNames[:],
		Expect: func(number uint64) uint8 { return uint8(order(number).Leaves()) },
		Number: OrderNumber,
		Check: func(document []byte, leaf uint8, number uint64) bool {
			expected = order(number).AppendExpected(expected[:0], Leaf(leaf))
			return bytes.HasPrefix(document, expected)
		},
	}
}
