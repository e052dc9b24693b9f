// Package lsp is a language server for NSPL: diagnostics, completion, hover,
// definitions and formatting for editors, without a cluster.
//
// The core is a [Server] that takes one message and returns the answers to it; it
// reads no file and knows no socket. [Serve] runs it over a stream.
//
//	L1  Every request gets exactly one answer, whatever it holds.
//	L2  Positions count in UTF-16 units, as the protocol has them.
//	L3  No input ends the server but exit and the end of the stream.
package lsp
