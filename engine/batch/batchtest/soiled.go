// Package batchtest has what tests of batches need. For tests only.
package batchtest

import "github.com/apache/arrow-go/v18/arrow/memory"

// Soiled hands out buffers that are full of something, as a pool does: whoever reads
// what it has not written finds out.
type Soiled struct{}

var _ memory.Allocator = Soiled{}

// Allocate implements memory.Allocator.
func (Soiled) Allocate(size int) []byte {
	b := make([]byte, size)
	soil(b)
	return b
}

// Reallocate implements memory.Allocator.
func (s Soiled) Reallocate(size int, b []byte) []byte {
	out := s.Allocate(size)
	copy(out, b)
	soil(b)
	return out
}

// Free implements memory.Allocator; who goes on reading finds out, too.
func (Soiled) Free(b []byte) { soil(b) }

func soil(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}
