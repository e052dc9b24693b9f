package ast

import "plexus/nspl/vocab"

// CreateSignaling is CREATE SIGNALING PROTOCOL. Protobuf belongs to that format.
type CreateSignaling struct {
	Create
	Format     vocab.SignalingFormat
	Protobuf   *SignalingProtobuf
	Fail       []Text // FAIL JAQ for every frame
	AcceptData bool   // ON CONNECT ACCEPT DATA
	Steps      []SignalingStep
	Timeout    Duration
}

// SignalingProtobuf is USING RESOURCE … of a signaling protocol.
type SignalingProtobuf struct {
	Binding
	Config     []ConfigEntry
	Send, Wait Text // the messages
}

// SignalingStep is SEND JAQ, where Send is set, or WAIT JAQ.
type SignalingStep struct {
	Send       []Text
	Wait       []Text
	Fail       []Text
	Capture    *Text
	AcceptData bool
	Span       vocab.Span
}

// Declares returns the kind of the entity.
func (*CreateSignaling) Declares() vocab.EntityKind { return vocab.EntitySignaling }
