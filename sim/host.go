package sim

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Host is a machine: addresses, a disk and a clock that outlive the programs
// that run on it.
type Host struct {
	sim   *Simulation
	name  string
	index int
	addrs []netip.Addr
	clock Clock
	disk  *Disk

	process *Process // the current run, nil while none
	runs    int
	program string
	main    func(context.Context, primitives.World)
	down    bool // without power
	exited  bool // the last process ended by itself

	listeners []*listener
	packets   []*packetSocket
	nextPort  uint16
	answer    Answer
	hosts     map[string][]netip.Addr // the hosts file

	fuse int // task turns until the fuse blows; 0 is none
	blow func()

	frozen   bool
	held     []*task  // runnable while frozen
	deferred []*timer // due while frozen
}

// Host adds a machine. Without addresses it gets one.
func (s *Simulation) Host(name string, addrs ...netip.Addr) *Host {
	index := len(s.hosts) + 1
	if len(addrs) == 0 {
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{10, 0, byte(index >> 8), byte(index)})}
	}
	for _, other := range s.hosts {
		invariant.Thatf(other.name != name, "two hosts are called %q", name)
	}
	h := &Host{sim: s, name: name, index: index, addrs: addrs}
	h.clock.init(h)
	h.disk = newDisk(h)
	s.hosts = append(s.hosts, h)
	s.network.join(h)
	return h
}

// Name returns the host's name.
func (h *Host) Name() string { return h.name }

// Addr returns the first address.
func (h *Host) Addr() netip.Addr { return h.addrs[0] }

// Addrs returns every address.
func (h *Host) Addrs() []netip.Addr { return h.addrs }

// Clock returns the machine's clock.
func (h *Host) Clock() *Clock { return &h.clock }

// World returns the world of the current process, starting an empty one when
// none runs.
func (h *Host) World() primitives.World { return h.current() }

// Process returns the current process, nil when none runs.
func (h *Host) Process() *Process { return h.process }

// Running reports whether a process runs.
func (h *Host) Running() bool { return h.process != nil }

// Exited reports whether the last program ended by itself, so that a supervisor
// would start it again.
func (h *Host) Exited() bool { return h.process == nil && h.exited }

// Frozen reports whether the machine is frozen.
func (h *Host) Frozen() bool { return h.frozen }

func (h *Host) current() *Process {
	if h.process == nil {
		h.boot("idle")
	}
	return h.process
}

func (h *Host) boot(name string) {
	if h.down {
		h.down = false
		h.sim.network.powered(h)
	}
	h.runs++
	p := &Process{sim: h.sim, host: h, name: name, run: h.runs}
	p.entropy.init(h.sim.opts.Seed, fmt.Sprintf("entropy/%s/%d", h.name, h.runs))
	p.log = h.sim.newLogger(p)
	h.process = p
	h.sim.note(KindProcess, uint64(processStarts)<<32|uint64(h.index), uint64(h.runs))
}

// Start runs a program: main is its first task and its context ends with Stop.
// When main returns the process exits, and what it left open is a leak.
func (h *Host) Start(name string, main func(ctx context.Context, w primitives.World)) *Process {
	invariant.Thatf(h.process == nil || h.process.cancel == nil, "%s already runs %q", h.name, h.program)
	h.program, h.main = name, main
	if h.process == nil {
		h.boot(name)
	}
	p := h.process
	p.name = name
	ctx, cancel := primitives.WithCancel(context.Background(), p)
	p.cancel = cancel
	h.sim.spawn(p, name, func() {
		main(ctx, p)
		p.exit()
	})
	return p
}

// Restart starts the last program again.
func (h *Host) Restart() *Process {
	invariant.Thatf(h.main != nil, "%s has no program to restart", h.name)
	return h.Start(h.program, h.main)
}

// Stop asks the program to end, as a termination signal does.
func (h *Host) Stop() {
	if p := h.process; p != nil && p.cancel != nil {
		h.sim.note(KindProcess, uint64(processStops)<<32|uint64(h.index), uint64(h.runs))
		p.cancel()
	}
}

// Kill ends the process at once. The machine lives on: written bytes stay, and
// its kernel resets the process's connections.
func (h *Host) Kill() {
	if h.process != nil {
		h.process.end(endKilled)
	}
}

// Crash takes the machine's power: bytes that were not synchronised are at the
// mercy of the seed, and peers hear nothing until it runs again.
func (h *Host) Crash() {
	h.down = true
	h.Thaw()
	if h.process != nil {
		h.process.end(endPowerless)
	} else {
		h.disk.crash()
	}
}

// AfterTurns calls f between two task turns of the machine, once its tasks have had
// that many more: a crash can come at any scheduling point, not only when time
// passes. A zero count calls it at once; a new call replaces an older one.
func (h *Host) AfterTurns(turns int, f func()) {
	h.fuse, h.blow = 0, nil
	if turns <= 0 {
		f()
		return
	}
	h.fuse, h.blow = turns, f
}

// burn counts a turn of a task.
func (h *Host) burn() {
	h.fuse--
	if h.fuse == 0 {
		f := h.blow
		h.blow = nil
		f()
	}
}

// Freeze stops the scheduling of every task and timer callback of the machine.
// Its kernel keeps receiving.
func (h *Host) Freeze() {
	h.frozen = true
	h.sim.note(KindProcess, uint64(processFreezes)<<32|uint64(h.index), uint64(h.runs))
}

// Thaw ends Freeze: what became due meanwhile happens now.
func (h *Host) Thaw() {
	if !h.frozen {
		return
	}
	h.frozen = false
	h.sim.note(KindProcess, uint64(processThaws)<<32|uint64(h.index), uint64(h.runs))
	held, deferred := h.held, h.deferred
	h.held, h.deferred = nil, nil
	for _, t := range deferred {
		h.sim.timers.arm(t, h.sim.now)
	}
	for _, t := range held {
		h.sim.runnable.add(t)
	}
}

// Stall keeps one task of the machine, the nth oldest modulo their number, off
// the scheduler for d.
func (h *Host) Stall(nth int, d time.Duration) {
	p := h.process
	if p == nil || p.live == 0 {
		return
	}
	t := p.oldest
	for range nth % p.live {
		t = t.next
	}
	t.stalled = h.sim.now + int64(d)
	h.sim.note(KindProcess, uint64(processStalls)<<32|uint64(h.index), uint64(t.id))
}

// processAction is the first half of A in a KindProcess record.
type processAction uint32

const (
	processStarts processAction = iota + 1
	processExits
	processDies
	processStops
	processFreezes
	processThaws
	processStalls
)

var processNames = [...]string{"", "starts", "exits", "dies", "stops", "freezes", "thaws", "stalls"}
