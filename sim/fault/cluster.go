package fault

import (
	"slices"
	"time"

	"plexus/sim"
)

// way is one direction between two machines.
type way struct{ from, to *sim.Host }

// cuts returns the directions that an entry cuts, and whether its class is about
// that at all.
func (c *Controller) cuts(e Entry) (ways []way, cuts bool) {
	switch e.Class {
	case LinkCut, LinkPartition:
		a, b := c.sim.Find(e.Target), c.sim.Find(e.Other)
		if a == nil || b == nil {
			return nil, true
		}
		ways = append(ways, way{a, b})
		if e.Class == LinkPartition {
			ways = append(ways, way{b, a})
		}
	case NodeAlone, NodeMute, NodeDeaf:
		h := c.sim.Find(e.Target)
		ways = c.between(func(from, to int) bool {
			return e.Class != NodeDeaf && c.nodes[from] == h || e.Class != NodeMute && c.nodes[to] == h
		})
	case ClusterSplit:
		// Neither side is empty.
		side := uint64(e.Amount)%(1<<len(c.nodes)-2) + 1
		ways = c.between(func(from, to int) bool { return side>>from&1 != side>>to&1 })
	case ClusterBridge:
		bridge := int(uint64(e.Amount) % uint64(len(c.nodes)))
		ways = c.between(func(from, to int) bool { return from != bridge && to != bridge })
	default:
		return nil, false
	}
	return ways, true
}

// between returns the directions between nodes that f chooses.
func (c *Controller) between(f func(from, to int) bool) []way {
	var ways []way
	for from := range c.nodes {
		for to := range c.nodes {
			if from != to && f(from, to) {
				ways = append(ways, way{c.nodes[from], c.nodes[to]})
			}
		}
	}
	return ways
}

// mend heals the directions an entry cut that no other active one cuts.
func (c *Controller) mend(e Entry) {
	ways, _ := c.cuts(e)
	for _, o := range c.active {
		still, _ := c.cuts(o)
		ways = slices.DeleteFunc(ways, func(w way) bool { return slices.Contains(still, w) })
	}
	for _, w := range ways {
		c.sim.Network().Heal(w.from, w.to)
	}
}

// applyAll applies what is about every node at once; all says whether the class is
// about that.
func (c *Controller) applyAll(e Entry) (applied, all bool) {
	switch e.Class {
	case PowerLoss:
		for _, h := range c.nodes {
			h.Crash()
		}
		return true, true
	case AllKilled:
		for _, h := range c.nodes {
			applied = applied || h.Running()
			h.Kill()
		}
		return applied, true
	case RollingStop:
		c.roll(0)
		return true, true
	}
	return false, false
}

// rollPause is the time a node has for itself before the next one stops.
const rollPause = 2 * time.Second

// roll restarts the nodes from the nth on, one after the other.
func (c *Controller) roll(nth int) {
	if c.over || nth == len(c.nodes) {
		return
	}
	h := c.nodes[nth]
	p := h.Process()
	if p == nil {
		c.roll(nth + 1)
		return
	}
	h.Stop()
	c.restartWhenStopped(h, p, stopPatience)
	c.rollOn(h, p, nth)
}

// rollOn waits until another process of the node runs.
func (c *Controller) rollOn(h *sim.Host, before *sim.Process, nth int) {
	c.sim.After(rollPause, func() {
		switch p := h.Process(); {
		case c.over:
			return
		case p == nil, p == before:
			c.rollOn(h, before, nth)
		default:
			c.roll(nth + 1)
		}
	})
}
