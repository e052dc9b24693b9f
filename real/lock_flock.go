//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package real

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"plexus/primitives"
)

// Lock implements primitives.Files. The lock belongs to the open file, so it ends
// with the process however that ends; the file itself stays.
func (files) Lock(name string) (primitives.Lock, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return lock{f}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = primitives.ErrLocked
	}
	f.Close()
	return nil, fmt.Errorf("lock %s: %w", name, err)
}

type lock struct{ file *os.File }

// Unlock implements primitives.Lock.
func (l lock) Unlock() error { return l.file.Close() }
