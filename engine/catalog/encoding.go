package catalog

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"plexus/engine/catalog/catalogpb"
)

// deterministic is the one encoder of replicated bytes. The messages hold no
// maps, so equal messages have equal encodings.
var deterministic = proto.MarshalOptions{Deterministic: true}

// Encode returns the log entry of a command.
func Encode(c *catalogpb.Command) ([]byte, error) {
	b, err := deterministic.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode command: %w", err)
	}
	return b, nil
}

// Decode reads a log entry.
func Decode(b []byte) (*catalogpb.Command, error) {
	c := new(catalogpb.Command)
	if err := strict(b, c); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return c, nil
}

// strict decodes and refuses fields this build does not know.
func strict(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if unknown(m.ProtoReflect()) {
		return fmt.Errorf("%w: unknown field in %s", ErrFormat, m.ProtoReflect().Descriptor().Name())
	}
	return nil
}

func unknown(m protoreflect.Message) (found bool) {
	if len(m.GetUnknown()) > 0 {
		return true
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for list, i := v.List(), 0; i < list.Len() && !found; i++ {
				found = unknown(list.Get(i).Message())
			}
		default:
			found = unknown(v.Message())
		}
		return !found
	})
	return found
}

// appendRecord adds a record with its length to a section.
func appendRecord(section []byte, r *catalogpb.Record) ([]byte, error) {
	b, err := deterministic.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
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
	if err := strict(section[n:end], r); err != nil {
		return nil, nil, err
	}
	return r, section[end:], nil
}
