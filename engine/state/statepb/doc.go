// Package statepb holds checkpoint headers and the messages of state transfer,
// generated from state.proto.
package statepb
