// Package quiescepb holds the messages of holds, generated from quiesce.proto.
package quiescepb
