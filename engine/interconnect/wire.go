package interconnect

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// nestingMax bounds the depth of a control message.
const nestingMax = 64

// Encode returns the deterministic encoding of a control message.
func Encode(m proto.Message) ([]byte, error) {
	return appendMessage(nil, m)
}

func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return b, nil
}

// Decode reads a control message. What this build does not know is an error:
// both sides have the same format.
func Decode(b []byte, m proto.Message) error {
	name := m.ProtoReflect().Descriptor().Name()
	if err := (proto.UnmarshalOptions{RecursionLimit: nestingMax}).Unmarshal(b, m); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, name, err)
	}
	if unknown(m.ProtoReflect()) {
		return fmt.Errorf("%w: %s with unknown fields", ErrMalformed, name)
	}
	return nil
}

// unknown reports whether a message, or one inside it, has fields that this build
// does not know.
func unknown(m protoreflect.Message) (found bool) {
	if len(m.GetUnknown()) > 0 {
		return true
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsMap():
			found = true // no control message has one: their encoding has no order
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

// clip bounds text that goes into a notice and keeps it encodable.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), detailMax)], "")
}
