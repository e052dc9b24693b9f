package state

import (
	"errors"

	"plexus/primitives"
)

// syncFile makes the content of a file durable.
func syncFile(files primitives.Files, name string) error {
	file, err := files.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
