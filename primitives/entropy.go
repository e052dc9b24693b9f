package primitives

import (
	"encoding/hex"
	"time"
)

// Entropy is the node's randomness: unpredictable in the real build, a function
// of seed and node in the simulated one.
type Entropy interface {
	Uint64() uint64
	// Read fills p and never fails.
	Read(p []byte) (int, error)
	// Stream returns an independent source with a name, so that a draw added in
	// one place shifts nothing in another.
	Stream(name string) Entropy
}

// UUID is a 128-bit identifier in network byte order.
type UUID [16]byte

// NewUUIDv7 returns a version 7 UUID (RFC 9562): the milliseconds of now and 74
// random bits. An instant before the epoch counts as the epoch.
func NewUUIDv7(e Entropy, now time.Time) UUID {
	var u UUID
	e.Read(u[6:])
	ms := max(now.UnixMilli(), 0)
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return u
}

// NewUUIDv4 returns a version 4 UUID.
func NewUUIDv4(e Entropy) UUID {
	var u UUID
	e.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

// String returns the 36-character lower-case form.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}
