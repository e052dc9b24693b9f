package state

import (
	"errors"
	"io/fs"
	"path"

	"plexus/primitives"
)

// makeDirectory creates a directory and makes every new name durable.
func makeDirectory(files primitives.Files, name string) error {
	if _, err := files.List(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := path.Dir(name)
	if parent != name {
		if err := makeDirectory(files, parent); err != nil {
			return err
		}
	}
	if err := files.MkdirAll(name); err != nil {
		return err
	}
	return files.SyncDir(parent)
}

// syncFile makes the content of a file durable.
func syncFile(files primitives.Files, name string) error {
	file, err := files.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
