// Package random is the source entity RANDOM SEQUENCE: rows from a seeded
// generator, with a cursor that the node persists. It is the smallest complete
// cursor source and the template for new ones.
//
//	R1  NextBatch stages; only Acknowledge moves the cursor.
//	R2  A rejected batch is generated again, byte for byte.
//	R3  The rows are a function of seed and sequence, on every machine.
//
// It has no external system, so it has no driver port, no driver and no broker.
package random
