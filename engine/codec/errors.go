package codec

import (
	"errors"
	"fmt"

	"plexus/nspl/vocab"
)

// ErrGroupFull says that the group cannot take the payload: the caller finishes
// the group and decodes the payload again. It says nothing about the payload.
var ErrGroupFull = errors.New("ingest group full")

// ErrUnsupported says that this build cannot run a codec plan.
var ErrUnsupported = errors.New("codec not supported")

// Cause is why a payload does not decode.
type Cause uint8

// The causes, as diagnostics spell them.
const (
	_ Cause = iota
	CauseSyntax
	CauseUTF8
	CauseDepth
	CauseSize
	CauseMissing
	CauseNull
	CauseType
	CauseRange
	CauseLength
	CauseUndeclared
	CauseDuplicate
	CauseBase64
	CauseRFC3339
)

// accepted is the Cause of what decodes.
const accepted Cause = 0

var causeNames = [...]string{"", "syntax", "utf8", "depth", "size", "missing", "null", "type", "range", "length",
	"undeclared", "duplicate", "base64", "rfc3339"}

// String returns the code of the cause.
func (c Cause) String() string { return causeNames[c] }

// located reports whether a diagnostic of the cause gives the byte offset.
func (c Cause) located() bool { return c == CauseSyntax || c == CauseUTF8 || c == CauseDepth }

// typed reports whether a diagnostic of the cause gives the type of the field.
func (c Cause) typed() bool {
	switch c {
	case CauseType, CauseRange, CauseLength, CauseBase64, CauseRFC3339:
		return true
	default:
		return false
	}
}

// DecodeError is a payload that does not decode (C4).
type DecodeError struct {
	Codec  string
	Input  int        // position of the document in the payload
	Field  string     // declared field, or ""
	Type   vocab.Type // of the field
	Cause  Cause
	Offset int // byte of the payload where decoding ended
}

// Error returns, for instance, "codec 'meter_codec': input 0: field 'meter':
// range (U32)".
func (e *DecodeError) Error() string {
	text := fmt.Sprintf("codec '%s': input %d: ", e.Codec, e.Input)
	if e.Field != "" {
		text += fmt.Sprintf("field '%s': ", e.Field)
	}
	text += e.Cause.String()
	switch {
	case e.Cause.located():
		text += fmt.Sprintf(" (byte %d)", e.Offset)
	case e.Cause.typed():
		text += fmt.Sprintf(" (%s)", e.Type)
	}
	return text
}

// EncodeError is a row that does not encode: a message error of code validation
// and operation encode.
type EncodeError struct {
	Codec  string
	Field  string
	Reason string
}

// Error names codec, field and reason.
func (e *EncodeError) Error() string {
	return fmt.Sprintf("codec '%s': field '%s': %s", e.Codec, e.Field, e.Reason)
}

// SizeError is a payload that would pass its limit.
type SizeError struct {
	Codec string
	// Size is what had been built when the limit was passed, a lower bound of the
	// payload.
	Size, Limit int64
}

// Error names size and limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("codec '%s': payload of at least %d bytes, the limit is %d", e.Codec, e.Size, e.Limit)
}
