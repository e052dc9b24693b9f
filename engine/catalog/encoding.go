package catalog

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog/catalogpb"
	"plexus/engine/strict"
)

// Encode returns the log entry of a command.
func Encode(c *catalogpb.Command) ([]byte, error) { return strict.Encode(c) }

// Decode reads a log entry.
func Decode(b []byte) (*catalogpb.Command, error) {
	c := new(catalogpb.Command)
	if err := decode(b, c); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return c, nil
}

// decode reads a message of this build's format.
func decode(b []byte, m proto.Message) error {
	if err := strict.Decode(b, m); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// appendRecord adds a record with its length to a section.
func appendRecord(section []byte, r *catalogpb.Record) ([]byte, error) {
	b, err := strict.Encode(r)
	if err != nil {
		return nil, err
	}
	section = binary.AppendUvarint(section, uint64(len(b)))
	return append(section, b...), nil
}

// cutRecord takes the first record off a section.
func cutRecord(section []byte) (*catalogpb.Record, []byte, error) {
	length, n := binary.Uvarint(section)
	if n <= 0 || length > uint64(len(section)-n) {
		return nil, nil, fmt.Errorf("%w: record length", ErrFormat)
	}
	end := n + int(length)
	r := new(catalogpb.Record)
	if err := decode(section[n:end], r); err != nil {
		return nil, nil, err
	}
	return r, section[end:], nil
}
