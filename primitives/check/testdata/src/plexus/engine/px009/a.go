package px009

import (
	crypto "crypto/rand"
	"math/rand/v2"
)

func refused(p []byte) int {
	crypto.Read(p)       // want `PX009: rand.Read`
	return rand.IntN(10) // want `PX009: rand.IntN`
}
