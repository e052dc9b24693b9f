package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Signaling is the handshake of a WebSocket session.
type Signaling struct {
	Name       string
	Format     vocab.SignalingFormat
	Protobuf   *SignalingProtobuf // of PROTOBUF
	Fail       []ast.Text         // programs that every frame is tried with
	AcceptData bool               // from the first frame on
	Steps      []ast.SignalingStep
	Timeout    ast.Duration // of the whole handshake
}

// SignalingProtobuf is what a signaling protocol compiles.
type SignalingProtobuf struct {
	Binding    ast.Binding
	Config     []vocab.ConfigEntry
	Send, Wait string // the messages
}

// Kind returns the kind.
func (*Signaling) Kind() vocab.EntityKind { return vocab.EntitySignaling }

// EntityName returns the name.
func (s *Signaling) EntityName() string { return s.Name }

// Refs returns the resource of PROTOBUF.
func (s *Signaling) Refs() []Ref { return appendBound(nil, s.Bound()) }

// Bound returns the resource of PROTOBUF.
func (s *Signaling) Bound() *ast.Binding {
	if s.Protobuf == nil {
		return nil
	}
	return &s.Protobuf.Binding
}

func lowerSignaling(c *checker, d *ast.CreateSignaling) *Signaling {
	m := &Signaling{Name: d.Name.Text, Format: d.Format, Fail: d.Fail, AcceptData: d.AcceptData, Steps: d.Steps, Timeout: d.Timeout}
	if b := d.Protobuf; b != nil {
		m.Protobuf = &SignalingProtobuf{
			Binding: b.Binding, Config: c.protobufConfig(b.Config), Send: c.message(b.Send, "SEND MESSAGE"), Wait: c.message(b.Wait, "WAIT MESSAGE"),
		}
	}
	c.programList(d.Fail, "FAIL JAQ")
	for _, s := range d.Steps {
		c.programList(s.Send, "SEND JAQ")
		c.programList(s.Wait, "WAIT JAQ")
		c.programList(s.Fail, "FAIL JAQ")
		c.program(s.Capture, "CAPTURE")
	}
	c.positive(d.Timeout, "TIMEOUT")
	return m
}

func (c *checker) programList(list []ast.Text, clause string) {
	for i := range list {
		c.program(&list[i], clause)
	}
}
