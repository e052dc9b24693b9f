package sim

import (
	"context"
	"fmt"
	"log/slog"

	"plexus/primitives"
)

// Process is one run of a program on a host, and the world that program sees.
type Process struct {
	sim  *Simulation
	host *Host
	name string
	run  int
	dead bool

	oldest, youngest *task
	live             int

	handles  []handle             // open sockets, files and locks
	waiters  []*primitives.Waiter // the pool
	entropy  Stream
	resolver primitives.Resolver
	log      *slog.Logger
	cancel   context.CancelFunc
	tracked  []tracked
}

// Host returns the machine.
func (p *Process) Host() *Host { return p.host }

// Dead reports whether the process has ended.
func (p *Process) Dead() bool { return p.dead }

// Entropy implements primitives.World.
func (p *Process) Entropy() primitives.Entropy { return &p.entropy }

// Log implements primitives.World.
func (p *Process) Log() *slog.Logger { return p.log }

func (p *Process) link(t *task) {
	p.live++
	t.prev, t.next = p.youngest, nil
	if p.youngest == nil {
		p.oldest = t
	} else {
		p.youngest.next = t
	}
	p.youngest = t
}

func (p *Process) unlink(t *task) {
	p.live--
	if t.prev == nil {
		p.oldest = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		p.youngest = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
}

// forget drops a callback that came due while the host was frozen.
func (p *Process) forget(t *timer) {
	for i, d := range p.host.deferred {
		if d == t {
			p.host.deferred = append(p.host.deferred[:i], p.host.deferred[i+1:]...)
			return
		}
	}
}

// ending is how a process ends.
type ending uint8

const (
	endReturned  ending = iota // its program returned
	endKilled                  // it was killed
	endPowerless               // its machine lost power
)

// exit ends the process whose main just returned.
func (p *Process) exit() {
	if leaks := p.leaks(p.sim.current); len(leaks) > 0 {
		p.sim.fail(&Failure{
			Kind:    FailureLeak,
			Message: fmt.Sprintf("%s exited and left %s", p.name, leaks[0]),
			Stack:   lines(leaks),
			Waiting: p.sim.Live(),
		})
	}
	p.end(endReturned)
}

// end makes the process dead, then takes its tasks, sockets, files and locks
// away (S2).
func (p *Process) end(how ending) {
	if p.dead {
		return
	}
	s := p.sim
	p.dead = true
	p.host.process = nil
	p.host.exited = how == endReturned
	action := processDies
	if how == endReturned {
		action = processExits
	}
	s.note(KindProcess, uint64(action)<<32|uint64(p.host.index), uint64(p.run))
	self := s.current
	for t := p.oldest; t != nil; {
		next := t.next
		if t != self {
			s.unwind(t)
		}
		t = next
	}
	p.release(how)
	if how == endPowerless {
		p.host.disk.crash()
	}
	if self != nil && self.process == p && how != endReturned {
		self.doomed = true
		self.switchOut()
	}
}

// handle is something the kernel keeps for a process.
type handle interface {
	shut() // the process ended
	lose() // the machine lost power
	describe() string
	slot() *int // its place in the process's list
}

func (p *Process) keep(k handle) {
	*k.slot() = len(p.handles)
	p.handles = append(p.handles, k)
}

func (p *Process) drop(k handle) {
	i, last := *k.slot(), len(p.handles)-1
	p.handles[i] = p.handles[last]
	*p.handles[i].slot() = i
	p.handles[last] = nil
	p.handles = p.handles[:last]
	*k.slot() = -1
}

// release is the kernel's part of a process's end.
func (p *Process) release(how ending) {
	for len(p.handles) > 0 {
		k := p.handles[len(p.handles)-1]
		p.drop(k)
		if how == endPowerless {
			k.lose()
		} else {
			k.shut()
		}
	}
}

var _ primitives.World = (*Process)(nil)
