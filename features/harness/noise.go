package harness

import (
	"context"
	"math/rand/v2"
	"net/netip"
)

// noise sends bytes that follow no protocol, on a connection of its own, and waits
// until the peer has closed it or read them all.
func (s *Scene) noise(ctx context.Context, address string, bytes int) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	w := s.stage.World()
	deadline := w.Clock().Now().Add(requestWithin)
	conn, err := w.Net().Dial(ctx, to, deadline)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.WriteBy(deadline)
	conn.ReadBy(deadline)
	draw := rand.New(rand.NewPCG(s.scenario.Seed, 2))
	text := make([]byte, bytes)
	for i := range text {
		text[i] = byte(draw.Uint32())
	}
	// Whoever refuses the first bytes need not read the rest.
	if _, err := conn.Write(text); err == nil {
		conn.Read(make([]byte, 1))
	}
	return nil
}
