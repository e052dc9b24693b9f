// Package trace writes, reads and compares trace files (.plt).
//
// A file is one line of JSON, the [Header], and then entries:
//
//	0x00 kind uvarint(id) uvarint(length) bytes   a task's or a label's name
//	0x01 8 bytes, big endian                      the digest after 4,096 more events
//	kind uvarint(Δt) uvarint(task) uvarint(A) uvarint(B)
//
// Kinds are those of [sim.Kind] plus one, so that 0 and 1 stay free. Event numbers
// count from zero and are implied. Names come before their first use.
package trace
