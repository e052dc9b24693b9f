package primitives

import (
	"errors"
	"io/fs"
	"path"
)

// MakeDirectory creates a directory with everything above it, and makes every
// name on the way durable. Names that exist are made durable as well: whoever
// created them may have ended before it came to that. What lies above directories
// that were found there may refuse to be opened; that is the business of whoever
// made it.
func MakeDirectory(files Files, name string) error {
	parent := path.Dir(name)
	if parent == name {
		return nil
	}
	if err := MakeDirectory(files, parent); err != nil {
		return err
	}
	_, err := files.List(name)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		err = files.MkdirAll(name)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	err = files.SyncDir(parent)
	if !made && errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
