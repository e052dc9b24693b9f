// Package sessionpb holds the messages of the session protocol, generated from
// session.proto. It imports protobuf only, so every binding and client shares it.
package sessionpb
