// Package controlpb holds the encoded form of the identity file and of snapshot
// manifests, generated from control.proto.
package controlpb
