// Package codec turns payloads into rows and rows into payloads: JSON documents
// of a wire schema, straight into Arrow columns and straight from them.
//
//	C1  A payload decodes whole or not at all: whatever it had appended is gone
//	    again, at any nesting depth, and its neighbours are as if it had never
//	    been there. Decoding payloads into one group gives the rows that decoding
//	    each alone gives.
//	C2  Decoding and encoding are pure functions of the bytes or rows and the
//	    plan. A compiled codec is immutable and shared; groups and pages are the
//	    scratch of one task.
//	C3  No input makes a codec panic, recurse beyond the nesting limit or allocate
//	    beyond a small multiple of its length.
//	C4  Failures name codec, field, cause and position, and never hold a byte of
//	    the payload, the names of undeclared members included.
//
// The package is pure. It imports plans from engine/decide, layouts from
// engine/batch, date-times from nspl/rfc3339, and never a World.
package codec
