// Command bench runs Plexus beside the peers it is compared with, in one
// process and in turns, and prints rows per CPU second of both and their ratio:
// a pipeline beside Benthos, and reading and printing NSPL beside an SQL parser.
// CPU time of the whole process counts, garbage collection included; the median
// of the rounds is printed, because absolute times prove nothing on a shared
// machine.
//
//	go run . [-rounds 5] [-rows 1000000]
//
// It is a module of its own, so that a peer's dependencies are not the product's.
package main
