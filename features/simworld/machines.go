package simworld

import (
	"time"

	"plexus/features/harness"
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

var _ harness.Machines = (*stage)(nil)
