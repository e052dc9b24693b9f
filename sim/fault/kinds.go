package fault

import (
	"time"

	"plexus/sim"
)

// The classes of hosts, links, names and clocks.
const (
	LinkSlow      Class = "link-slow"      // Amount: nanoseconds more each way
	LinkLoss      Class = "link-loss"      // Amount: lost per million
	LinkDuplicate Class = "link-duplicate" // Amount: datagrams per million, doubled and reordered
	LinkFragment  Class = "link-fragment"  // streams arrive in pieces
	LinkNarrow    Class = "link-narrow"    // Amount: bytes per second
	LinkCut       Class = "link-cut"       // one direction
	LinkPartition Class = "link-partition" // both directions
	LinkReset     Class = "link-reset"     // every connection between two hosts
	LinkResetAt   Class = "link-reset-at"  // Amount: bytes until one connection is reset
	LinkHold      Class = "link-hold"      // Amount: which one of the connections carries nothing, one way
	DialRefuse    Class = "dial-refuse"    // the target refuses connections
	DialBlackhole Class = "dial-blackhole" // the target does not answer
	DialReset     Class = "dial-reset"     // the target accepts and resets

	NameAbsent   Class = "name-absent"
	NameServFail Class = "name-servfail"
	NameSilent   Class = "name-silent"
	NameTruncate Class = "name-truncate"
	NameEmpty    Class = "name-empty"
	NameRefused  Class = "name-refused"
	NameWrongID  Class = "name-wrong-id" // a forged reply comes first
	NameMoved    Class = "name-moved"    // another machine's address
	NameLate     Class = "name-late"     // Amount: nanoseconds

	ClockDrift Class = "clock-drift" // Amount: parts per million
	ClockJump  Class = "clock-jump"  // Amount: nanoseconds, either way
	ClockLate  Class = "clock-late"  // Amount: nanoseconds that callbacks come late

	TaskStall  Class = "task-stall"  // Amount: which task; For: how long
	HostFreeze Class = "host-freeze" // nothing of the machine is scheduled

	DiskSlow     Class = "disk-slow" // Amount: nanoseconds more per operation
	DiskFull     Class = "disk-full"
	DiskReadOnly Class = "disk-read-only"
	DiskSyncFail Class = "disk-sync-fail" // Amount: how many syncs
	DiskReadFail Class = "disk-read-fail" // Amount: how many reads
	DiskFlip     Class = "disk-flip"      // Amount: how many reads return a flipped bit
	DiskLost     Class = "disk-lost"      // an empty disk after a crash

	ProcessKill    Class = "process-kill"    // Amount: task turns until it happens; For: until it starts again
	ProcessRestart Class = "process-restart" // graceful
	HostCrash      Class = "host-crash"      // power loss; Amount and For as for process-kill
	PowerLoss      Class = "power-loss"      // of every node at once
)

// The classes of clusters.
const (
	NodeAlone     Class = "node-alone"     // no other node is reached, nor reaches it
	NodeMute      Class = "node-mute"      // no other node hears it
	NodeDeaf      Class = "node-deaf"      // it hears no other node
	ClusterSplit  Class = "cluster-split"  // Amount: bits of the nodes on one side
	ClusterBridge Class = "cluster-bridge" // Amount: the one node that reaches all others
	AllKilled     Class = "all-killed"     // every process at once
	RollingStop   Class = "rolling-stop"   // every node restarts gracefully, one after the other
)

// Kind says how entries of a class are drawn.
type Kind struct {
	Class  Class
	Target string // a broker's name; empty for classes of hosts
	Per    time.Duration
	// Per is the mean distance of entries at full intensity.
	Shortest, Longest time.Duration // of an entry; zero for faults of a moment
	Least, Most       int64         // of the amount
	Signed            bool          // the amount may be negative
	on                place
}

// place is what an entry of a kind is about.
type place uint8

const (
	onBroker place = iota
	onNode
	onLink
	onName
	onAllNodes
	onCluster // needs several nodes
	onMember  // one node of several
)

// Standard lists the kinds a correct product recovers from without loss.
func Standard() []Kind {
	const ms, s = time.Millisecond, time.Second
	return []Kind{
		{Class: LinkSlow, Per: 10 * s, Shortest: 100 * ms, Longest: 30 * s, Least: int64(ms), Most: int64(s), on: onLink},
		{Class: LinkLoss, Per: 10 * s, Shortest: 100 * ms, Longest: 30 * s, Least: 1_000, Most: 300_000, on: onLink},
		{Class: LinkDuplicate, Per: 20 * s, Shortest: s, Longest: 30 * s, Least: 10_000, Most: 300_000, on: onLink},
		{Class: LinkFragment, Per: 20 * s, Shortest: s, Longest: 60 * s, on: onLink},
		{Class: LinkNarrow, Per: 20 * s, Shortest: s, Longest: 20 * s, Least: 10_000, Most: 10_000_000, on: onLink},
		{Class: LinkCut, Per: 10 * s, Shortest: 10 * ms, Longest: 20 * s, on: onLink},
		{Class: LinkPartition, Per: 10 * s, Shortest: 10 * ms, Longest: 20 * s, on: onLink},
		{Class: LinkReset, Per: 5 * s, on: onLink},
		{Class: LinkResetAt, Per: 5 * s, Least: 1, Most: 100_000, on: onLink},
		{Class: DialRefuse, Per: 20 * s, Shortest: 10 * ms, Longest: 10 * s, on: onNode},
		{Class: DialBlackhole, Per: 20 * s, Shortest: 10 * ms, Longest: 10 * s, on: onNode},
		{Class: DialReset, Per: 20 * s, Shortest: 10 * ms, Longest: 10 * s, on: onNode},
		{Class: NameAbsent, Per: 20 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameServFail, Per: 20 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameSilent, Per: 20 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameTruncate, Per: 20 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameEmpty, Per: 30 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameRefused, Per: 30 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameWrongID, Per: 30 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameMoved, Per: 30 * s, Shortest: 100 * ms, Longest: 20 * s, on: onName},
		{Class: NameLate, Per: 20 * s, Shortest: 100 * ms, Longest: 20 * s, Least: int64(ms), Most: int64(10 * s), on: onName},
		{Class: ClockDrift, Per: 30 * s, Shortest: s, Longest: 60 * s, Least: 10, Most: 300_000, Signed: true, on: onNode},
		{Class: ClockJump, Per: 20 * s, Least: int64(ms), Most: int64(time.Hour), Signed: true, on: onNode},
		{Class: ClockLate, Per: 20 * s, Shortest: s, Longest: 20 * s, Least: int64(ms), Most: int64(5 * s), on: onNode},
		{Class: TaskStall, Per: 5 * s, Shortest: ms, Longest: 10 * s, Least: 0, Most: 1 << 16, on: onNode},
		{Class: HostFreeze, Per: 15 * s, Shortest: 10 * ms, Longest: 20 * s, on: onNode},
		{Class: DiskSlow, Per: 15 * s, Shortest: 100 * ms, Longest: 20 * s, Least: int64(ms / 10), Most: int64(s), on: onNode},
		{Class: DiskFull, Per: 30 * s, Shortest: 100 * ms, Longest: 10 * s, on: onNode},
		{Class: DiskSyncFail, Per: 30 * s, Least: 1, Most: 3, on: onNode},
		{Class: ProcessKill, Per: 15 * s, Shortest: ms, Longest: 20 * s, Most: 500, on: onNode},
		{Class: ProcessRestart, Per: 30 * s, on: onNode},
		{Class: HostCrash, Per: 15 * s, Shortest: ms, Longest: 20 * s, Most: 500, on: onNode},
		{Class: PowerLoss, Per: 60 * s, Shortest: ms, Longest: 20 * s, on: onAllNodes},
	}
}

// Destructive lists the kinds that may cost a node its data, so that refusing to
// go on is right.
func Destructive() []Kind {
	const s = time.Second
	return []Kind{
		{Class: DiskReadFail, Per: 30 * s, Least: 1, Most: 3, on: onNode},
		{Class: DiskFlip, Per: 30 * s, Least: 1, Most: 3, on: onNode},
		{Class: DiskReadOnly, Per: 60 * s, Shortest: s, Longest: 20 * s, on: onNode},
		{Class: DiskLost, Per: 60 * s, Shortest: s, Longest: 20 * s, on: onNode},
	}
}

// Clustered lists the kinds that need several nodes, and that a correct product
// recovers from without loss.
func Clustered() []Kind {
	const ms, s = time.Millisecond, time.Second
	return []Kind{
		{Class: LinkHold, Per: 10 * s, Shortest: 10 * ms, Longest: 30 * s, Most: 1 << 10, on: onLink},
		{Class: NodeAlone, Per: 20 * s, Shortest: 10 * ms, Longest: 30 * s, on: onMember},
		{Class: NodeMute, Per: 30 * s, Shortest: 10 * ms, Longest: 20 * s, on: onMember},
		{Class: NodeDeaf, Per: 30 * s, Shortest: 10 * ms, Longest: 20 * s, on: onMember},
		{Class: ClusterSplit, Per: 20 * s, Shortest: 10 * ms, Longest: 30 * s, Least: 1, Most: 1 << 16, on: onCluster},
		{Class: ClusterBridge, Per: 30 * s, Shortest: 10 * ms, Longest: 30 * s, Least: 1, Most: 1 << 16, on: onCluster},
		{Class: AllKilled, Per: 60 * s, Shortest: ms, Longest: 10 * s, on: onCluster},
		{Class: RollingStop, Per: 60 * s, on: onCluster},
	}
}

// OnNode reports whether the kind is about one machine, or all, and no link or
// name.
func (k Kind) OnNode() bool { return k.on == onNode || k.on == onAllNodes }

func (k Kind) often(horizon time.Duration) int64 {
	return max(1, int64(horizon/max(k.Per, time.Millisecond)))
}

// draw returns one entry; ok is false when the setting has nothing to apply the
// kind to.
func (k Kind) draw(r *sim.Stream, s Setting) (e Entry, ok bool) {
	e = Entry{Class: k.Class, At: time.Duration(r.Between(0, int64(s.Horizon)-1)), Target: k.Target}
	target, other := r.Uint64(), r.Uint64()
	if k.Longest > 0 {
		e.For = time.Duration(r.LogBetween(int64(k.Shortest), int64(k.Longest))).Round(time.Microsecond)
	}
	if k.Most > 0 {
		e.Amount = r.LogBetween(max(k.Least, 1), k.Most)
	}
	if r.Below(2) == 0 && k.Signed {
		e.Amount = -e.Amount
	}
	e.At = e.At.Round(time.Microsecond)
	pick := func(list []string, n uint64) string { return list[n%uint64(len(list))] }
	switch k.on {
	case onNode, onMember:
		if ok = len(s.Nodes) > 1 || k.on == onNode && len(s.Nodes) > 0; ok {
			e.Target = pick(s.Nodes, target)
		}
	case onCluster:
		ok = len(s.Nodes) > 1
	case onName:
		if ok = len(s.Names) > 0; ok {
			e.Target = pick(s.Names, target)
		}
	case onLink:
		ends := append(append([]string(nil), s.Nodes...), s.Peers...)
		if ok = len(s.Nodes) > 0 && len(ends) > 1; ok {
			e.Target, e.Other = pick(s.Nodes, target), pick(ends, other)
			if e.Other == e.Target {
				e.Other = pick(ends, other+1)
			}
			if target>>63 == 0 && k.Class == LinkCut {
				e.Target, e.Other = e.Other, e.Target
			}
		}
	default:
		ok = true
	}
	return e, ok
}
