package sim

import (
	"fmt"
	"math/bits"
	"runtime"
	"time"
)

// Kind is the kind of a trace record.
type Kind uint8

// The kinds. A and B of a record depend on the kind; they hold lengths,
// identities and decisions, never payload bytes.
const (
	KindSpawn   Kind = iota + 1 // A: host
	KindRun                     // A: other runnable tasks
	KindPark                    //
	KindUnpark                  // A: woken task
	KindExit                    // A: 0 returned, 1 killed
	KindTimer                   // A: host, 0 for the network
	KindLog                     // A: level, B: message
	KindNet                     // A: action and connection, B: bytes
	KindDisk                    // A: action and host, B: bytes
	KindProcess                 // A: action and host, B: run
	KindFault                   // A: class, B: target
	KindMark                    // A, B: the caller's; Task is its label
)

var kindNames = [...]string{"", "spawn", "run", "park", "unpark", "exit", "timer", "log", "net", "disk", "process", "fault", "mark"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Record is one decision of a run.
type Record struct {
	Event uint64
	At    time.Duration
	Kind  Kind
	Task  uint32 // 0 outside tasks
	A, B  uint64
}

// Detail renders what A and B mean.
func (r Record) Detail() string {
	action := uint32(r.A >> 32)
	object := uint32(r.A)
	switch r.Kind {
	case KindSpawn, KindTimer:
		return fmt.Sprintf("host %d", r.A)
	case KindRun:
		return fmt.Sprintf("%d more runnable", r.A)
	case KindUnpark:
		return fmt.Sprintf("task %d", r.A)
	case KindExit:
		if r.A == 1 {
			return "killed"
		}
		return "returned"
	case KindLog:
		return fmt.Sprintf("level %d message %016x", int64(r.A), r.B)
	case KindNet:
		return fmt.Sprintf("%s %d, %d", name(netNames[:], action), object, r.B)
	case KindDisk:
		return fmt.Sprintf("%s host %d, %d", name(diskNames[:], action), object, r.B)
	case KindProcess:
		return fmt.Sprintf("%s host %d, %d", name(processNames[:], action), object, r.B)
	case KindFault:
		return fmt.Sprintf("class %016x target %016x", r.A, r.B)
	case KindMark:
		return fmt.Sprintf("%d %d", r.A, r.B)
	}
	return ""
}

func name(names []string, i uint32) string {
	if i < uint32(len(names)) {
		return names[i]
	}
	return "unknown"
}

// Tracer receives a full trace. Name tells what a task or label number means,
// before its first record.
type Tracer interface {
	Name(kind Kind, id uint32, name string)
	Record(Record)
	// Checkpoint gives the digest of everything recorded so far, after every 4,096
	// events.
	Checkpoint(digest uint64)
}

const (
	// checkpointEvents is the distance of digest checkpoints: a divergence is
	// localised to this many events without a full trace.
	checkpointEvents = 4096
	// recentRecords is how many last records a run keeps for its report.
	recentRecords = 1024
)

// trace is the running digest and what is kept of the history.
type trace struct {
	digest      uint64
	events      uint64
	checkpoints []uint64
	recent      []Record
	tracer      Tracer
	breakAt     uint64
}

func (t *trace) init(o *Options) {
	t.digest = 0x6c7578506c657875
	t.recent = make([]Record, recentRecords)
	t.tracer = o.Tracer
	t.breakAt = o.BreakAt
}

// record folds one decision into the digest. After a failure nothing is decided
// any more: what a task still does in its turn tells nothing.
func (s *Simulation) record(kind Kind, task uint32, a, b uint64) {
	if s.failure != nil {
		return
	}
	t := &s.trace
	h := t.digest ^ (uint64(kind) | uint64(task)<<8)
	h = bits.RotateLeft64(h*0x9E3779B97F4A7C15, 31) ^ a
	h = bits.RotateLeft64(h*0xBF58476D1CE4E5B9, 29) ^ b
	h = bits.RotateLeft64(h*0x94D049BB133111EB, 27) ^ uint64(s.now)
	h *= 0x9E3779B97F4A7C15
	t.digest = h ^ h>>32
	r := Record{Event: t.events, At: time.Duration(s.now), Kind: kind, Task: task, A: a, B: b}
	t.recent[t.events%recentRecords] = r
	if t.tracer != nil {
		t.tracer.Record(r)
	}
	t.events++
	if t.events%checkpointEvents == 0 {
		t.checkpoints = append(t.checkpoints, t.digest)
		if t.tracer != nil {
			t.tracer.Checkpoint(t.digest)
		}
		s.lifetime.running()
	}
	if t.events == t.breakAt {
		runtime.Breakpoint()
	}
}

// note is record for the running task, if one runs.
func (s *Simulation) note(kind Kind, a, b uint64) {
	var task uint32
	if s.current != nil {
		task = s.current.id
	}
	s.record(kind, task, a, b)
}

// Label is a registered name of marks.
type Label uint32

// Label registers a name that Mark uses. The same name gives the same label.
func (s *Simulation) Label(name string) Label {
	for i, n := range s.labels {
		if n == name {
			return Label(i)
		}
	}
	s.labels = append(s.labels, name)
	if s.trace.tracer != nil {
		s.trace.tracer.Name(KindMark, uint32(len(s.labels)-1), name)
	}
	return Label(len(s.labels) - 1)
}

// Mark lets brokers, workloads and oracles put their own decisions into the
// trace: identities, counts and outcomes, never payloads.
func (s *Simulation) Mark(l Label, a, b uint64) { s.record(KindMark, uint32(l), a, b) }

// Trace is what a run leaves behind without a tracer.
type Trace struct {
	Digest      uint64
	Events      uint64
	Checkpoints []uint64 // digest after every 4,096 events
	Recent      []Record // the last records, oldest first
}

// Trace returns the digest, the checkpoints and the last records so far.
func (s *Simulation) Trace() Trace {
	t := &s.trace
	out := Trace{Digest: t.digest, Events: t.events, Checkpoints: append([]uint64(nil), t.checkpoints...)}
	first := uint64(0)
	if t.events > recentRecords {
		first = t.events - recentRecords
	}
	for i := first; i < t.events; i++ {
		out.Recent = append(out.Recent, t.recent[i%recentRecords])
	}
	return out
}

// Digest returns the hash of everything that happened so far (S1).
func (s *Simulation) Digest() uint64 { return s.trace.digest }
