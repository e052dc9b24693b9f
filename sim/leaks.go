package sim

import (
	"fmt"
	"strings"
)

// Allocator is memory whose use must be zero when its process has ended, for
// example Arrow's checked allocator.
type Allocator interface{ CurrentAlloc() int }

type tracked struct {
	name      string
	allocator Allocator
}

// Track registers an allocator of the process's program for the leak check. The
// memory of a killed process is gone with it.
func (p *Process) Track(name string, a Allocator) {
	p.tracked = append(p.tracked, tracked{name, a})
}

// leaks lists what the process still holds, except the given task.
func (p *Process) leaks(except *task) []string {
	var out []string
	for t := p.oldest; t != nil; t = t.next {
		if t != except {
			out = append(out, "task "+t.process.host.name+"/"+t.name)
		}
	}
	for _, k := range p.handles {
		out = append(out, k.describe())
	}
	for _, t := range p.tracked {
		if n := t.allocator.CurrentAlloc(); n != 0 {
			out = append(out, fmt.Sprintf("%d bytes of %s", n, t.name))
		}
	}
	return out
}

// Leaks lists the tasks, sockets, files and memory that live processes hold. A
// scenario calls it after it has stopped everything it started.
func (s *Simulation) Leaks() []string {
	var out []string
	for _, h := range s.hosts {
		if h.process != nil {
			out = append(out, h.process.leaks(nil)...)
		}
	}
	return out
}

func lines(list []string) string { return strings.Join(list, "\n") + "\n" }
