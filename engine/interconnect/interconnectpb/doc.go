// Package interconnectpb holds the encoded form of connection setup, health and
// announcements, generated from interconnect.proto.
package interconnectpb
