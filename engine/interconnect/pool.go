package interconnect

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// pool keeps buffers of messages that were given back, so that a flow of large
// messages neither asks the runtime for memory nor clears it.
type pool struct {
	kept    atomic.Int64 // bytes
	classes [poolClasses][poolSlots]atomic.Pointer[byte]
}

// Sizes go from 16 KiB to 4 MiB in eight steps an octave, so that little of a
// buffer is more than its message.
const (
	poolShiftMin = 14
	poolShiftMax = 22
	poolSteps    = 3 // bits
	poolClasses  = (poolShiftMax-poolShiftMin)<<poolSteps + 1
	poolSlots    = 16
	poolBytesMax = 32 << 20
)

// poolClass returns the class that holds n bytes and the size of its buffers.
func poolClass(n int) (class, size int) {
	n = max(n, 1<<poolShiftMin)
	shift := bits.Len(uint(n)) - 1 - poolSteps
	steps := (n + 1<<shift - 1) >> shift // from 1<<poolSteps up
	return (shift+poolSteps-poolShiftMin)<<poolSteps + steps - 1<<poolSteps, steps << shift
}

// get returns n bytes of unspecified content.
func (p *pool) get(n int) []byte {
	if n <= 1<<(poolShiftMin-1) || n > 1<<poolShiftMax {
		return make([]byte, n)
	}
	class, size := poolClass(n)
	for i := range p.classes[class] {
		slot := &p.classes[class][i]
		if slot.Load() == nil {
			continue
		}
		if b := slot.Swap(nil); b != nil {
			p.kept.Add(-int64(size))
			return unsafe.Slice(b, size)[:n]
		}
	}
	return make([]byte, n, size)
}

// put takes a buffer of get back. Others are left to the collector.
func (p *pool) put(b []byte) {
	size := cap(b)
	if size < 1<<poolShiftMin || size > 1<<poolShiftMax || p.kept.Load()+int64(size) > poolBytesMax {
		return
	}
	class, whole := poolClass(size)
	if whole != size {
		return
	}
	for i := range p.classes[class] {
		slot := &p.classes[class][i]
		if slot.Load() == nil && slot.CompareAndSwap(nil, unsafe.SliceData(b)) {
			p.kept.Add(int64(size))
			return
		}
	}
}
