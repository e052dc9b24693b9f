package interconnect

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// pool keeps buffers of messages that were given back, so that a flow of large
// messages neither asks the runtime for memory nor clears it.
type pool struct {
	classes [poolClasses]poolClass
}

// Sizes are powers of two from 16 KiB to 4 MiB.
const (
	poolShiftMin      = 14
	poolClasses       = 9
	poolSlots         = 16
	poolClassBytesMax = 8 << 20
)

type poolClass struct {
	slots [poolSlots]atomic.Pointer[byte]
}

// slots returns the places of a class.
func (p *pool) slots(class int) []atomic.Pointer[byte] {
	return p.classes[class].slots[:min(poolSlots, poolClassBytesMax>>(class+poolShiftMin))]
}

// get returns n bytes of unspecified content.
func (p *pool) get(n int) []byte {
	class := bits.Len(uint(n-1)) - poolShiftMin
	if n <= 1<<(poolShiftMin-1) || class >= poolClasses {
		return make([]byte, n)
	}
	class = max(class, 0)
	slots := p.slots(class)
	for i := range slots {
		if slots[i].Load() == nil {
			continue
		}
		if b := slots[i].Swap(nil); b != nil {
			return unsafe.Slice(b, 1<<(class+poolShiftMin))[:n]
		}
	}
	return make([]byte, n, 1<<(class+poolShiftMin))
}

// put takes a buffer of get back. Others are left to the collector.
func (p *pool) put(b []byte) {
	size := cap(b)
	class := bits.Len(uint(size)) - 1 - poolShiftMin
	if size&(size-1) != 0 || class < 0 || class >= poolClasses {
		return
	}
	slots := p.slots(class)
	for i := range slots {
		if slots[i].Load() == nil && slots[i].CompareAndSwap(nil, unsafe.SliceData(b)) {
			return
		}
	}
}
