package interconnect

import (
	"context"
	"encoding/binary"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var silentSeen = invariant.Sometimes("a silent connection was given up")

// watch looks at every connection about once a second: a quiet one is pinged, a
// silent one is given up, an expired one retires.
func (m *Mesh) watch(ctx context.Context) error {
	ticker := primitives.NewTicker(m.world, livenessEvery)
	defer ticker.Stop()
	for {
		if err := ticker.Next(ctx); err != nil {
			return nil
		}
		now := m.world.Clock().Now()
		for _, c := range m.snapshot() {
			switch c.look(now) {
			case linkSilent:
				silentSeen.Hit()
				c.fail(ErrSilent)
			case linkExpired:
				m.tasks.Go("interconnect drain", func(ctx context.Context) error {
					c.retire(ctx, now.Add(drainWithin))
					return nil
				})
			}
		}
	}
}

// linkState is what a look at a connection found.
type linkState uint8

const (
	linkFine linkState = iota
	linkSilent
	linkExpired
)

// look notes whether bytes came since the last look.
func (c *connection) look(now primitives.Instant) linkState {
	if c.heard.Swap(false) || c.quietSince == 0 {
		c.quietSince, c.waitsForPong = now, false
	}
	quiet := now.Sub(c.quietSince)
	switch {
	case quiet >= quietBeforePing+pongWithin:
		return linkSilent
	case quiet >= quietBeforePing && !c.waitsForPong:
		c.waitsForPong = true
		c.lock()
		c.pinged++
		c.notice(header{kind: kindPing}, binary.BigEndian.AppendUint64(nil, c.pinged))
		c.unlock()
	}
	c.lock()
	worn := c.dialled && c.lastID > streamsPerConnection
	if c.class == Replication {
		// The sender of a slow stream learns, too, when its bytes were taken.
		for s := c.oldest; s != nil; s = s.next {
			c.creditStream(s, 1)
		}
	}
	c.unlock()
	if !c.expired && (worn || !now.Before(c.expires)) {
		c.expired = true
		return linkExpired
	}
	return linkFine
}
