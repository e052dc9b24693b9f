package simworld

import (
	"net/netip"
	"time"

	"plexus/features/harness"
	"plexus/sim"
	"plexus/sim/cluster"
)

// LosePower implements harness.Machines.
func (s *stage) LosePower(n harness.Node) error {
	n.(*node).host.Crash()
	return nil
}

// FillDisk implements harness.Machines.
func (s *stage) FillDisk(n harness.Node, full bool) error {
	n.(*node).host.Disk().SetFull(full)
	return nil
}

// FailSync implements harness.Machines.
func (s *stage) FailSync(n harness.Node) error {
	n.(*node).host.Disk().FailSyncs(1)
	return nil
}

// SlowDisk implements harness.Machines.
func (s *stage) SlowDisk(n harness.Node, by time.Duration) error {
	n.(*node).host.Disk().SetSlow(by)
	return nil
}

// JumpClock implements harness.Machines.
func (s *stage) JumpClock(n harness.Node, by time.Duration) error {
	n.(*node).host.Clock().Jump(by)
	return nil
}

// InterconnectAddress implements harness.Node.
func (n *node) InterconnectAddress() string {
	return netip.AddrPortFrom(n.host.Addr(), cluster.InterconnectPort).String()
}

// CutLink implements harness.Links.
func (s *stage) CutLink(from, to harness.Node) error {
	s.sim.Network().Cut(from.(*node).host, to.(*node).host)
	return nil
}

// SlowLink implements harness.Links.
func (s *stage) SlowLink(from, to harness.Node, by time.Duration) error {
	n := s.sim.Network()
	l := n.LinkOf(from.(*node).host, to.(*node).host)
	l.Latency += by
	n.SetLink(from.(*node).host, to.(*node).host, l)
	return nil
}

// HealLink implements harness.Links.
func (s *stage) HealLink(from, to harness.Node) error {
	n := s.sim.Network()
	n.ResetLink(from.(*node).host, to.(*node).host)
	n.Heal(from.(*node).host, to.(*node).host)
	return nil
}

// BreakLink implements harness.Links.
func (s *stage) BreakLink(from, to harness.Node, bytes int) error {
	s.sim.Network().ResetAfter(from.(*node).host, to.(*node).host, int64(bytes))
	return nil
}

// HideName implements harness.Links.
func (s *stage) HideName(n harness.Node, hidden bool) error {
	trouble := sim.TroubleNone
	if hidden {
		trouble = sim.TroubleAbsent
	}
	s.sim.DNS().Trouble(n.Name(), trouble)
	return nil
}

// healLinks makes every way between nodes good.
func (s *stage) healLinks() {
	s.sim.Network().HealAll()
	s.sim.DNS().Heal()
}

var (
	_ harness.Machines = (*stage)(nil)
	_ harness.Links    = (*stage)(nil)
)
