// Package sessionframe is the socket form of the session protocol: what the
// simulated build speaks, and anything else that has a World but no HTTP stack.
//
// A connection carries one call: the client sends a Call, the server answers
// with Reply frames and one End. A client that closes the connection cancels.
//
//	frame = length:u32be  kind:u8  body
//
// The length counts kind and body. The package imports protobuf and the protocol
// messages only.
package sessionframe
