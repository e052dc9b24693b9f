package batch

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

var _ memory.Allocator = (*Pool)(nil)

// Pool is an allocator that hands freed buffers out again, so that a steady flow
// of batches neither asks the runtime for memory nor clears it. Buffers have
// unspecified content. It may be used from several tasks; the zero value is
// ready.
type Pool struct {
	classes [poolClasses]poolClass
}

// Sizes are rounded up to powers of two, from 64 bytes, Arrow's alignment, to
// 4 MiB; larger buffers come from the runtime and go back to its collector.
const (
	poolShiftMin = 6
	poolClasses  = 17
	// A class keeps about the buffers of the batches that are on their way between
	// a source and a sink of one pipeline, and of large ones fewer.
	poolSlots         = 32
	poolClassBytesMax = 8 << 20
)

type poolClass struct {
	slots [poolSlots]atomic.Pointer[byte]
}

// slots returns the places of a class.
func (p *Pool) slots(class int) []atomic.Pointer[byte] {
	return p.classes[class].slots[:min(poolSlots, poolClassBytesMax>>(class+poolShiftMin))]
}

// class returns the class that holds size bytes.
func class(size int) int { return max(bits.Len(uint(size-1)), poolShiftMin) - poolShiftMin }

// Allocate returns size bytes of unspecified content.
func (p *Pool) Allocate(size int) []byte {
	if size <= 0 {
		return []byte{}
	}
	k := class(size)
	if k >= poolClasses {
		return make([]byte, size)
	}
	full := 1 << (k + poolShiftMin)
	slots := p.slots(k)
	for i := range slots {
		if slots[i].Load() == nil {
			continue
		}
		if b := slots[i].Swap(nil); b != nil {
			return unsafe.Slice(b, full)[:size]
		}
	}
	// A power of two is aligned to itself, up to a page.
	return make([]byte, size, full)
}

// Reallocate returns size bytes that start with the content of b, which is given
// back if it has to move.
func (p *Pool) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := p.Allocate(size)
	copy(out, b)
	p.Free(b)
	return out
}

// Free gives a buffer back.
func (p *Pool) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	k := class(cap(b))
	if k >= poolClasses || cap(b) != 1<<(k+poolShiftMin) {
		return
	}
	slots := p.slots(k)
	for i := range slots {
		if slots[i].Load() == nil && slots[i].CompareAndSwap(nil, unsafe.SliceData(b)) {
			return
		}
	}
}
