//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package real

import (
	"errors"
	"fmt"

	"plexus/primitives"
)

// Lock implements primitives.Files. This platform has no file locks.
func (files) Lock(name string) (primitives.Lock, error) {
	return nil, fmt.Errorf("lock %s: %w", name, errors.ErrUnsupported)
}
