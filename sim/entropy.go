package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"plexus/primitives"
)

// Stream is a named source of random numbers: xoshiro256** seeded with
// SHA-256(seed, label). It is fast enough to be asked on every step.
type Stream struct {
	s     [4]uint64
	seed  uint64
	label string
}

// NewStream returns the stream of the label under the seed.
func NewStream(seed uint64, label string) *Stream {
	r := &Stream{}
	r.init(seed, label)
	return r
}

func (r *Stream) init(seed uint64, label string) {
	r.seed, r.label = seed, label
	buf := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(label)), seed)
	sum := sha256.Sum256(append(buf, label...))
	for i := range r.s {
		r.s[i] = binary.BigEndian.Uint64(sum[8*i:])
	}
}

// Uint64 returns the next 64 bits.
func (r *Stream) Uint64() uint64 {
	s := &r.s
	result := bits.RotateLeft64(s[1]*5, 7) * 9
	t := s[1] << 17
	s[2] ^= s[0]
	s[3] ^= s[1]
	s[1] ^= s[2]
	s[0] ^= s[3]
	s[2] ^= t
	s[3] = bits.RotateLeft64(s[3], 45)
	return result
}

// Read fills p.
func (r *Stream) Read(p []byte) (int, error) {
	n := len(p)
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, r.Uint64())
		p = p[8:]
	}
	if len(p) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], r.Uint64())
		copy(p, last[:])
	}
	return n, nil
}

// Stream returns the independent source with that name under this one.
func (r *Stream) Stream(name string) primitives.Entropy { return r.Sub(name) }

// Sub is Stream with its concrete type.
func (r *Stream) Sub(name string) *Stream { return NewStream(r.seed, r.label+"/"+name) }

// Below returns a number in [0,n); n must be positive.
func (r *Stream) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.Uint64(), n)
	return hi
}

// Chance reports true in about ppm of a million calls.
func (r *Stream) Chance(ppm uint64) bool { return r.Below(1_000_000) < ppm }

// Between returns a number in [lo,hi].
func (r *Stream) Between(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	return lo + int64(r.Below(uint64(hi-lo)+1))
}

// LogBetween returns a number in [lo,hi] whose magnitude is uniform: small and
// large values are equally likely per power of two. lo must be positive.
func (r *Stream) LogBetween(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	low, high := bits.Len64(uint64(lo)), bits.Len64(uint64(hi))
	n := low + int(r.Below(uint64(high-low)+1))
	from, to := int64(1)<<(n-1), int64(1)<<(n-1)-1+int64(1)<<(n-1)
	return r.Between(max(from, lo), min(to, hi))
}

var _ primitives.Entropy = (*Stream)(nil)
