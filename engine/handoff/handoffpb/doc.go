// Package handoffpb holds preparations and the messages of ownership changes,
// generated from handoff.proto.
package handoffpb
