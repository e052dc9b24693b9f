package contract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// StateBytesMax bounds the state of a cursor source. It is rewritten for every
// batch, so it is O(1) in what was read: offsets, a watermark, a counter.
const StateBytesMax = 64 << 10

// State is what a cursor source has consumed, for the host to persist. It does
// not depend on schemas, so it survives their changes.
type State struct {
	Connector string // head of the entity that wrote it
	Version   uint16 // the connector's own schema of Bytes
	Bytes     []byte // a MessagePack map, written by StateFields.Encode
}

// StateField is one member of a state: a number, or a text.
type StateField struct {
	Key    string
	IsText bool
	Uint   uint64
	Text   string
}

// StateFields is a state in the clear. The order of the fields does not matter:
// encoding sorts them, so equal states have equal bytes.
type StateFields []StateField

// What Encode and DecodeState fail with.
var (
	ErrStateTooLarge  = errors.New("state exceeds 64 KiB")
	ErrStateMalformed = errors.New("state is not a MessagePack map of the expected form")
)

// MessagePack leading bytes, as far as states use them.
const (
	mpMap   = 0x80 // up to 15 members
	mpStr   = 0xa0 // up to 31 bytes
	mpStr8  = 0xd9
	mpStr16 = 0xda
	mpU8    = 0xcc
	mpU16   = 0xcd
	mpU32   = 0xce
	mpU64   = 0xcf
)

// stateFieldsMax is what the short map form holds.
const stateFieldsMax = 15

// Encode returns the MessagePack form: one map, keys ascending, shortest forms.
func (f StateFields) Encode() ([]byte, error) {
	sorted := slices.Clone(f)
	slices.SortFunc(sorted, func(a, b StateField) int { return strings.Compare(a.Key, b.Key) })
	if len(sorted) > stateFieldsMax {
		return nil, ErrStateTooLarge
	}
	out := []byte{mpMap | byte(len(sorted))}
	for i, field := range sorted {
		if i > 0 && sorted[i-1].Key == field.Key {
			return nil, ErrStateMalformed
		}
		if len(field.Key)+len(field.Text)+len(out) > StateBytesMax {
			return nil, ErrStateTooLarge
		}
		out = appendText(out, field.Key)
		if field.IsText {
			out = appendText(out, field.Text)
		} else {
			out = appendUint(out, field.Uint)
		}
	}
	if len(out) > StateBytesMax {
		return nil, ErrStateTooLarge
	}
	return out, nil
}

// DecodeState reads what Encode wrote, and nothing else: another spelling of the
// same map is refused, because it was not written by this code.
func DecodeState(encoded []byte) (StateFields, error) {
	if len(encoded) == 0 || len(encoded) > StateBytesMax || encoded[0]&0xf0 != mpMap {
		return nil, ErrStateMalformed
	}
	r := stateReader{rest: encoded[1:]}
	fields := make(StateFields, int(encoded[0]&0x0f))
	for i := range fields {
		fields[i].Key = r.text()
		if fields[i].IsText = r.atText(); fields[i].IsText {
			fields[i].Text = r.text()
		} else {
			fields[i].Uint = r.uint()
		}
	}
	if r.bad || len(r.rest) > 0 {
		return nil, ErrStateMalformed
	}
	if again, err := fields.Encode(); err != nil || !bytes.Equal(again, encoded) {
		return nil, ErrStateMalformed
	}
	return fields, nil
}

// Uint returns a number.
func (f StateFields) Uint(key string) (uint64, bool) {
	for i := range f {
		if f[i].Key == key && !f[i].IsText {
			return f[i].Uint, true
		}
	}
	return 0, false
}

// Text returns a text.
func (f StateFields) Text(key string) (string, bool) {
	for i := range f {
		if f[i].Key == key && f[i].IsText {
			return f[i].Text, true
		}
	}
	return "", false
}

// RestoreFields checks that a persisted state was written by this connector at
// this version and returns its fields, which must be exactly the given keys.
func (s State) RestoreFields(connector string, version uint16, keys ...string) (StateFields, error) {
	switch {
	case s.Connector != connector:
		return nil, errors.New("it was written by " + s.Connector)
	case s.Version != version:
		return nil, errors.New("its version is not known")
	}
	fields, err := DecodeState(s.Bytes)
	if err != nil {
		return nil, err
	}
	if len(fields) != len(keys) {
		return nil, ErrStateMalformed
	}
	for i := range fields {
		if !slices.Contains(keys, fields[i].Key) {
			return nil, ErrStateMalformed
		}
	}
	return fields, nil
}

func appendText(out []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		out = append(out, mpStr|byte(n))
	case n < 1<<8:
		out = append(out, mpStr8, byte(n))
	default: // Encode bounds the whole by StateBytesMax
		out = append(out, mpStr16, byte(n>>8), byte(n))
	}
	return append(out, s...)
}

func appendUint(out []byte, v uint64) []byte {
	switch {
	case v < 1<<7:
		return append(out, byte(v))
	case v < 1<<8:
		return append(out, mpU8, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(out, mpU16), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(out, mpU32), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(out, mpU64), v)
}

// stateReader walks encoded state; after the first mistake it yields zeros.
type stateReader struct {
	rest []byte
	bad  bool
}

func (r *stateReader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return make([]byte, min(n, 8))
	}
	head := r.rest[:n]
	r.rest = r.rest[n:]
	return head
}

func (r *stateReader) atText() bool {
	return len(r.rest) > 0 && (r.rest[0]&0xe0 == mpStr || r.rest[0] == mpStr8 || r.rest[0] == mpStr16)
}

func (r *stateReader) text() string {
	if !r.atText() {
		r.bad = true
		return ""
	}
	n := 0
	switch lead := r.take(1)[0]; lead {
	case mpStr8:
		n = int(r.take(1)[0])
	case mpStr16:
		n = int(binary.BigEndian.Uint16(r.take(2)))
	default:
		n = int(lead & 0x1f)
	}
	if text := r.take(n); !r.bad {
		return string(text)
	}
	return ""
}

func (r *stateReader) uint() uint64 {
	switch lead := r.take(1)[0]; lead {
	case mpU8:
		return uint64(r.take(1)[0])
	case mpU16:
		return uint64(binary.BigEndian.Uint16(r.take(2)))
	case mpU32:
		return uint64(binary.BigEndian.Uint32(r.take(4)))
	case mpU64:
		return binary.BigEndian.Uint64(r.take(8))
	default:
		r.bad = r.bad || lead >= 1<<7
		return uint64(lead)
	}
}
