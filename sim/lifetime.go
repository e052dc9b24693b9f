package sim

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"
)

// oneAtATime is held while a simulation exists (see the package comment).
var oneAtATime sync.Mutex

// lifetime is what a simulation takes from its operating-system process while it
// exists: the only place, the system's randomness and a watchdog in real time.
type lifetime struct {
	seed     uint64
	osReader io.Reader
	watchdog *time.Timer
}

func (l *lifetime) begin(s *Simulation) {
	oneAtATime.Lock()
	l.seed = s.opts.Seed
	l.osReader, rand.Reader = rand.Reader, seededReader{s}
	l.watchdog = time.AfterFunc(stuckAfter, l.stuck)
	l.watchdog.Stop()
}

func (l *lifetime) end() {
	l.watchdog.Stop()
	rand.Reader = l.osReader
	oneAtATime.Unlock()
}

// running starts the watchdog over: the run begins, or has got on.
func (l *lifetime) running() { l.watchdog.Reset(stuckAfter) }

func (l *lifetime) paused() { l.watchdog.Stop() }

// stuck runs in real time: some task computes or blocks natively and never comes
// back. No report can be made from here but the stacks.
func (l *lifetime) stuck() {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	_, _ = fmt.Fprintf(os.Stderr, "simulation of seed %d: no progress for %v of real time\n%s", l.seed, stuckAfter, stacks)
	os.Exit(exitStuck)
}

// exitStuck is the exit status of a harness failure.
const exitStuck = 5

// seededReader is crypto/rand.Reader during a run: the entropy of whoever reads.
type seededReader struct{ s *Simulation }

func (r seededReader) Read(p []byte) (int, error) {
	if t := r.s.current; t != nil {
		return t.process.entropy.Read(p)
	}
	return r.s.entropy.Read(p)
}

// goroutineID reads the number in the first line of the goroutine's stack.
func goroutineID() uint64 {
	var buf [40]byte
	n := runtime.Stack(buf[:], false)
	var id uint64
	for _, c := range buf[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uint64(c-'0')
	}
	return id
}
