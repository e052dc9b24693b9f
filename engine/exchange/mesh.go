package exchange

import (
	"context"
	"fmt"

	"plexus/engine/interconnect"
)

// OverMesh returns the port over the interconnect of a node.
func OverMesh(m *interconnect.Mesh) Port {
	return &meshPort{m: m, follower: m.Follow(interconnect.Reach)}
}

type meshPort struct {
	m        *interconnect.Mesh
	follower *interconnect.Follower
}

func (p *meshPort) Self() Process { return p.m.Process() }

func (p *meshPort) Peers() []Peer {
	known := p.m.Peers()
	list := make([]Peer, len(known))
	for i, s := range known {
		list[i] = Peer{Node: s.Node, Process: s.Process, Connected: s.Connected, Unreachable: s.Availability == interconnect.Unreachable}
	}
	return list
}

func (p *meshPort) Changed(ctx context.Context) error { return p.follower.Wait(ctx) }

func (p *meshPort) Ask(ctx context.Context, to Process, op interconnect.Operation, message []byte) ([]byte, error) {
	reply, err := p.m.CallProcess(ctx, to, op, message)
	return reply, departure(err)
}

// departure tells a process that is gone from every other failure.
func departure(err error) error {
	if interconnect.InPhase(err, interconnect.PhaseDeparted) {
		return fmt.Errorf("%w: %w", ErrDeparted, err)
	}
	return err
}

func (p *meshPort) Transfer(ctx context.Context, to Process, channel uint64, head, body []byte) ([]byte, error) {
	s, err := p.m.OpenProcess(ctx, to, interconnect.RelayBody, channel)
	if err != nil {
		return nil, departure(err)
	}
	defer s.Close()
	// The other side may answer without reading everything: its answer counts, not
	// how far the body came.
	failed := s.Send(head)
	if failed == nil {
		failed = s.Send(body)
	}
	if failed == nil {
		failed = s.CloseSend()
	}
	reply, err := s.Recv()
	if err != nil && failed != nil {
		err = failed
	}
	return reply, departure(err)
}

func (p *meshPort) Post(to Process, message []byte) {
	p.m.Send(to.Node, interconnect.RelayProgress, message)
}

func (p *meshPort) Serve(s Server) {
	for _, op := range []interconnect.Operation{
		interconnect.RelayGrant, interconnect.RelayStatus, interconnect.RelayCancel, interconnect.RelayOutcome, interconnect.RelayAck,
	} {
		p.m.Handle(op, func(ctx context.Context, from Process, request []byte) ([]byte, error) {
			return s.Answer(ctx, from, op, request)
		})
	}
	p.m.Handle(interconnect.RelayProgress, func(_ context.Context, from Process, request []byte) ([]byte, error) {
		return nil, s.Progress(from, request)
	})
	p.m.HandleStream(interconnect.RelayBody, func(ctx context.Context, from Process, stream *interconnect.Stream) error {
		head, err := stream.Recv()
		if err != nil {
			return err
		}
		reply, err := s.Body(ctx, from, head, stream.Recv)
		if err != nil {
			return err
		}
		return stream.Send(reply)
	})
}
