package fault

import (
	"hash/fnv"
	"slices"
	"time"

	"plexus/sim"
)

// Injector is something else than a host that faults can be aimed at: a broker.
// Its kinds carry its name as target.
type Injector interface {
	// Kinds lists what can go wrong in it.
	Kinds() []Kind
	// Apply begins an entry; it runs outside every task. It reports whether the
	// fault could take effect.
	Apply(Entry) bool
	// Heal ends an entry that lasts.
	Heal(Entry)
	// HealAll ends everything, counts of things that still would go wrong included.
	HealAll()
}

// Controller applies a plan.
type Controller struct {
	sim       *sim.Simulation
	nodes     []*sim.Host
	all       []Injector
	injectors map[string]Injector // by the target of their kinds
	active    []Entry
	fired     map[Class]int
	over      bool
}

// Start arms every entry of the plan, relative to now.
func Start(s *sim.Simulation, plan Plan, nodes []*sim.Host, injectors ...Injector) *Controller {
	c := &Controller{sim: s, nodes: nodes, all: injectors, injectors: map[string]Injector{}, fired: map[Class]int{}}
	for _, in := range injectors {
		for _, k := range in.Kinds() {
			c.injectors[k.Target] = in
		}
	}
	for _, e := range plan {
		s.After(e.At, func() { c.begin(e) })
	}
	return c
}

// Fired returns how often each class took effect.
func (c *Controller) Fired() map[Class]int { return c.fired }

func number(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func (c *Controller) begin(e Entry) {
	if c.over {
		return
	}
	c.sim.Fault(number(string(e.Class)), number(e.Target+e.Other))
	if !c.apply(e) {
		return
	}
	c.fired[e.Class]++
	if e.For > 0 {
		c.active = append(c.active, e)
		c.sim.After(e.For, func() { c.finish(e) })
	}
}

// finish ends an entry, and applies again what another active entry wants of the
// same thing.
func (c *Controller) finish(e Entry) {
	i := slices.Index(c.active, e)
	if i < 0 {
		return
	}
	c.active = slices.Delete(c.active, i, i+1)
	c.sim.Fault(number("end "+string(e.Class)), number(e.Target+e.Other))
	c.heal(e)
	c.mend(e)
	for _, o := range c.active {
		if o.Class == e.Class && o.Target == e.Target && o.Other == e.Other {
			c.apply(o)
		}
	}
}

// Heal ends every fault, starts every node that is down, and ignores the rest of
// the plan.
func (c *Controller) Heal() {
	c.over = true
	for len(c.active) > 0 {
		c.finish(c.active[0])
	}
	for _, in := range c.all {
		in.HealAll()
	}
	c.sim.Network().HealAll()
	c.sim.DNS().Heal()
	for _, h := range c.nodes {
		h.Disk().Heal()
		h.Clock().SetDrift(0)
		h.Clock().SetLateness(0)
		h.Thaw()
		h.AfterTurns(0, func() {})
		c.start(h)
	}
}

func (c *Controller) start(h *sim.Host) {
	if !h.Running() {
		h.Restart()
	}
}

// apply makes an entry take effect.
func (c *Controller) apply(e Entry) bool {
	if in := c.injectors[e.Target]; in != nil && e.Other == "" {
		return in.Apply(e)
	}
	if ways, cuts := c.cuts(e); cuts {
		for _, w := range ways {
			c.sim.Network().Cut(w.from, w.to)
		}
		return len(ways) > 0
	}
	if applied, all := c.applyAll(e); all {
		return applied
	}
	if t, named := troubles[e.Class]; named {
		c.sim.DNS().Trouble(e.Target, t)
		return true
	}
	if e.Class == NameLate {
		c.sim.DNS().SetDelay(time.Duration(e.Amount))
		return true
	}
	h := c.sim.Find(e.Target)
	if h == nil {
		return false
	}
	if e.Other != "" {
		o := c.sim.Find(e.Other)
		return o != nil && c.applyLink(e, h, o)
	}
	return c.applyHost(e, h)
}

var troubles = map[Class]sim.Trouble{
	NameAbsent: sim.TroubleAbsent, NameServFail: sim.TroubleServFail,
	NameSilent: sim.TroubleSilent, NameTruncate: sim.TroubleTruncate,
	NameEmpty: sim.TroubleEmpty, NameRefused: sim.TroubleRefused,
	NameWrongID: sim.TroubleWrongID, NameMoved: sim.TroubleMoved,
}

func (c *Controller) applyHost(e Entry, h *sim.Host) bool {
	amount := time.Duration(e.Amount)
	switch e.Class {
	case DialRefuse:
		h.SetAnswer(sim.AnswerRefuse)
	case DialBlackhole:
		h.SetAnswer(sim.AnswerBlackhole)
	case DialReset:
		h.SetAnswer(sim.AnswerReset)
	case ClockDrift:
		h.Clock().SetDrift(e.Amount)
	case ClockJump:
		h.Clock().Jump(amount)
	case ClockLate:
		h.Clock().SetLateness(amount)
	case DiskSlow:
		h.Disk().SetSlow(amount)
	case DiskFull:
		h.Disk().SetFull(true)
	case DiskReadOnly:
		h.Disk().SetReadOnly(true)
	case DiskSyncFail:
		h.Disk().FailSyncs(int(e.Amount))
	case DiskReadFail:
		h.Disk().FailReads(int(e.Amount))
	case DiskFlip:
		h.Disk().FlipReads(int(e.Amount))
	default:
		return c.applyProcess(e, h)
	}
	return true
}

// applyProcess applies what needs a running process.
func (c *Controller) applyProcess(e Entry, h *sim.Host) bool {
	if !h.Running() {
		return false
	}
	switch e.Class {
	case TaskStall:
		h.Stall(int(e.Amount), e.For)
	case HostFreeze:
		h.Freeze()
	case ProcessKill:
		h.AfterTurns(int(e.Amount), h.Kill)
	case HostCrash:
		h.AfterTurns(int(e.Amount), h.Crash)
	case DiskLost:
		h.Crash()
		h.Disk().Wipe()
	case ProcessRestart:
		h.Stop()
		c.restartWhenStopped(h, h.Process(), stopPatience)
	default:
		return false
	}
	return true
}

const (
	// stopPatience bounds a graceful stop; a process that still runs is killed.
	stopPatience = 90 * time.Second
	stopPoll     = 50 * time.Millisecond
)

func (c *Controller) restartWhenStopped(h *sim.Host, p *sim.Process, patience time.Duration) {
	if patience <= 0 && h.Process() == p {
		h.Kill()
	}
	if h.Process() != p {
		c.start(h)
		return
	}
	c.sim.After(stopPoll, func() { c.restartWhenStopped(h, p, patience-stopPoll) })
}

func (c *Controller) applyLink(e Entry, a, b *sim.Host) bool {
	n := c.sim.Network()
	switch e.Class {
	case LinkHold:
		return n.Hold(a, b, int(e.Amount))
	case LinkReset:
		n.Reset(a, b)
	case LinkResetAt:
		n.ResetAfter(a, b, e.Amount)
	default:
		changed := c.changeLink(e, a, b)
		return c.changeLink(e, b, a) && changed
	}
	return true
}

// changeLink makes one direction worse by what the entry says.
func (c *Controller) changeLink(e Entry, from, to *sim.Host) bool {
	n := c.sim.Network()
	l := n.LinkOf(from, to)
	switch e.Class {
	case LinkSlow:
		l.Latency += time.Duration(e.Amount)
		l.Jitter += time.Duration(e.Amount) / 2
	case LinkLoss:
		l.LossPPM = max(l.LossPPM, uint64(e.Amount))
	case LinkDuplicate:
		l.DuplicatePPM = max(l.DuplicatePPM, uint64(e.Amount))
		l.ReorderPPM = max(l.ReorderPPM, uint64(e.Amount))
	case LinkFragment:
		l.Fragment = true
	case LinkNarrow:
		l.Bandwidth = e.Amount
	default:
		return false
	}
	n.SetLink(from, to, l)
	return true
}

// heal undoes an entry that lasted.
func (c *Controller) heal(e Entry) {
	if in := c.injectors[e.Target]; in != nil && e.Other == "" {
		in.Heal(e)
		return
	}
	if _, named := troubles[e.Class]; named {
		c.sim.DNS().Trouble(e.Target, sim.TroubleNone)
		return
	}
	h := c.sim.Find(e.Target)
	switch e.Class {
	case NameLate:
		c.sim.DNS().SetDelay(0)
	case PowerLoss, AllKilled:
		for _, h := range c.nodes {
			c.start(h)
		}
	case DialRefuse, DialBlackhole, DialReset:
		h.SetAnswer(sim.AnswerNormal)
	case ClockDrift:
		h.Clock().SetDrift(0)
	case ClockLate:
		h.Clock().SetLateness(0)
	case DiskSlow:
		h.Disk().SetSlow(0)
	case DiskFull:
		h.Disk().SetFull(false)
	case DiskReadOnly:
		h.Disk().SetReadOnly(false)
	case HostFreeze:
		h.Thaw()
	case ProcessKill, HostCrash, DiskLost:
		h.AfterTurns(0, func() {}) // it may not have happened
		c.start(h)
	case LinkHold:
		c.sim.Network().Release(h, c.sim.Find(e.Other))
	case LinkSlow, LinkLoss, LinkDuplicate, LinkFragment, LinkNarrow:
		c.relink(h, c.sim.Find(e.Other))
	}
}

// relink gives both directions what the still active entries leave of them.
func (c *Controller) relink(a, b *sim.Host) {
	n := c.sim.Network()
	n.ResetLink(a, b)
	n.ResetLink(b, a)
	for _, o := range c.active {
		if o.Target == a.Name() && o.Other == b.Name() || o.Target == b.Name() && o.Other == a.Name() {
			c.changeLink(o, a, b)
			c.changeLink(o, b, a)
		}
	}
}
