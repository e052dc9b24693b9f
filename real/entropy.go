package real

import (
	"crypto/rand"
	"encoding/binary"

	"plexus/primitives"
)

// entropy draws from the operating system.
type entropy struct{}

// Uint64 implements primitives.Entropy.
func (e entropy) Uint64() uint64 {
	var b [8]byte
	e.Read(b[:])
	return binary.NativeEndian.Uint64(b[:])
}

// Read implements primitives.Entropy. The system's source does not fail; if it
// did, crypto/rand would end the process.
func (entropy) Read(p []byte) (int, error) { return rand.Read(p) }

// Stream implements primitives.Entropy. Unpredictable sources are independent
// anyway.
func (e entropy) Stream(string) primitives.Entropy { return e }
