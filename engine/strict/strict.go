// Package strict encodes and decodes the messages nodes exchange and keep: equal
// messages have equal bytes, and a field that this build does not know is an
// error, because all nodes run one format.
//
// It imports protobuf only.
package strict

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ErrFormat says that bytes are no message of this format.
var ErrFormat = errors.New("not a message of this format")

var deterministic = proto.MarshalOptions{Deterministic: true}

// Encode returns the only encoding of a message.
func Encode(m proto.Message) ([]byte, error) {
	b, err := deterministic.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return b, nil
}

// Decode reads a message. Its error is ErrFormat.
func Decode(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, m.ProtoReflect().Descriptor().Name(), err)
	}
	if unknown(m.ProtoReflect()) {
		return fmt.Errorf("%w: unknown field in %s", ErrFormat, m.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// unknown looks for fields without a meaning. Messages of this product have no
// map fields.
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

// Fixed copies bytes of a known length out of a message.
func Fixed[T [16]byte | [32]byte](field string, b []byte) (v T, err error) {
	if len(b) != len(v) {
		return v, fmt.Errorf("%w: %s has %d bytes instead of %d", ErrFormat, field, len(b), len(v))
	}
	return T(b), nil
}
