package sim

import (
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"plexus/primitives"
)

// DiskProfile describes a healthy disk.
type DiskProfile struct {
	SyncLatency time.Duration
	SyncJitter  time.Duration // uniform, on top
	Capacity    int64         // bytes; 0 is unlimited
}

// DiskDefault is a local solid-state disk.
var DiskDefault = DiskProfile{SyncLatency: 200 * time.Microsecond, SyncJitter: 400 * time.Microsecond}

// Disk is a host's stable storage. It knows for every write and every name
// whether a loss of power would keep it.
type Disk struct {
	host    *Host
	profile DiskProfile
	draw    Stream

	now     names // what programs see
	durable names // what was synchronised
	pending []dirChange
	locks   map[string]*lock

	full, readOnly       bool
	slow                 time.Duration
	failSyncs, failReads int
	flipReads            int
}

// names maps absolute names to files and directories.
type names struct {
	files map[string]*inode
	dirs  map[string]bool
}

// inode is a file's bytes, with the history since they were last synchronised.
type inode struct {
	data     []byte
	unsynced []unsynced
	started  int // changes that left the history
	doubtful []doubtful
}

// doubtful is a range that a failed sync left behind: the kernel takes it for
// clean, and only luck brought it to the medium.
type doubtful struct {
	off, end int64
	before   []byte // what stood at its beginning on the medium
}

// unsynced is one change of a file that a loss of power may undo.
type unsynced struct {
	off    int64
	fresh  []byte // what was written there
	before []byte // what stood there
	size   int64  // of the file before
	trunc  bool   // the file was cut or extended to off
}

// dirChange is one change of a directory that a loss of power may undo.
type dirChange struct {
	dir      string
	kind     changeKind
	name, to string
	node     *inode
}

type changeKind uint8

const (
	changeLink changeKind = iota
	changeUnlink
	changeRename
	changeMkdir
)

// diskAction is the first half of A in a KindDisk record.
type diskAction uint32

const (
	diskWrites diskAction = iota + 1
	diskSyncs
	diskSyncFails
	diskFlips
	diskCrashes
	diskWiped
)

var diskNames = [...]string{"", "write", "sync", "sync fails", "flip", "crash", "wiped"}

// newDisk returns a disk with the directories every machine has.
func newDisk(h *Host) *Disk {
	d := &Disk{host: h, profile: DiskDefault, now: newNames(), durable: newNames(), locks: map[string]*lock{}}
	d.draw.init(h.sim.opts.Seed, "disk/"+h.name)
	return d
}

func newNames() names {
	return names{files: map[string]*inode{}, dirs: map[string]bool{"/": true, "/etc": true, "/tmp": true}}
}

// Disk returns the machine's disk.
func (h *Host) Disk() *Disk { return h.disk }

// SetProfile describes the disk from now on.
func (d *Disk) SetProfile(p DiskProfile) { d.profile = p }

// SetSlow adds a delay to every operation; zero ends it.
func (d *Disk) SetSlow(by time.Duration) { d.slow = by }

// SetFull refuses every write and creation.
func (d *Disk) SetFull(full bool) { d.full = full }

// SetReadOnly refuses every change, as a remount after errors does.
func (d *Disk) SetReadOnly(readOnly bool) { d.readOnly = readOnly }

// FailSyncs fails the next n synchronisations, and what they covered is as good
// as lost.
func (d *Disk) FailSyncs(n int) { d.failSyncs = n }

// FailReads fails the next n reads.
func (d *Disk) FailReads(n int) { d.failReads = n }

// FlipReads returns the next n reads with one bit flipped.
func (d *Disk) FlipReads(n int) { d.flipReads = n }

// Heal ends every fault.
func (d *Disk) Heal() {
	d.full, d.readOnly, d.slow = false, false, 0
	d.failSyncs, d.failReads, d.flipReads = 0, 0, 0
}

// Wipe replaces the disk by an empty one. The machine must be down or its process
// dead.
func (d *Disk) Wipe() {
	d.now, d.durable, d.pending = newNames(), newNames(), nil
	d.locks = map[string]*lock{}
	d.host.sim.note(KindDisk, uint64(diskWiped)<<32|uint64(d.host.index), 0)
}

// Put writes a durable file, directories included: configuration that exists
// before the machine starts.
func (d *Disk) Put(name string, data []byte) {
	full := clean(name)
	for dir := path.Dir(full); !d.durable.dirs[dir]; dir = path.Dir(dir) {
		d.now.dirs[dir], d.durable.dirs[dir] = true, true
	}
	n := &inode{data: slices.Clone(data)}
	d.now.files[full], d.durable.files[full] = n, n
}

// Get returns the bytes a program would read now, nil when the file is missing.
func (d *Disk) Get(name string) []byte {
	n := d.now.files[clean(name)]
	if n == nil {
		return nil
	}
	return slices.Clone(n.data)
}

// Damage flips one bit of a stored file, as a failing medium does. It reports
// whether the file has that byte.
func (d *Disk) Damage(name string, off int64, bit uint8) bool {
	n := d.now.files[clean(name)]
	if n == nil || off >= int64(len(n.data)) {
		return false
	}
	n.data[off] ^= 1 << (bit % 8)
	return true
}

// Names returns the name of every file, sorted.
func (d *Disk) Names() []string { return primitives.SortedKeys(d.now.files) }

func (d *Disk) used() int64 {
	var sum int64
	for _, n := range d.now.files { //plexus:orderfree a sum
		sum += int64(len(n.data))
	}
	return sum
}

// change makes a directory change visible and keeps it as undoable.
func (d *Disk) change(c dirChange) {
	d.now.apply(c)
	d.pending = append(d.pending, c)
}

// commit makes the first count pending changes durable that belong to dir.
func (d *Disk) commit(dir string, count int) {
	kept := d.pending[:0]
	for i, c := range d.pending {
		if i < count && c.dir == dir {
			d.durable.apply(c)
		} else {
			kept = append(kept, c)
		}
	}
	clear(d.pending[len(kept):])
	d.pending = kept
}

// crash decides what a loss of power leaves: everything synchronised, of each
// directory's later changes a prefix, and of each later write all, nothing or its
// beginning.
func (d *Disk) crash() {
	keep := map[string]int{}
	for _, c := range d.pending {
		keep[c.dir]++
	}
	for _, dir := range primitives.SortedKeys(keep) {
		keep[dir] = int(d.draw.Between(0, int64(keep[dir])))
	}
	for _, c := range d.pending {
		if keep[c.dir] > 0 {
			keep[c.dir]--
			d.durable.apply(c)
		}
	}
	d.pending = nil
	lost := 0
	survivors := newNames()
	for _, dir := range primitives.SortedKeys(d.durable.dirs) { // parents first
		if survivors.dirs[path.Dir(dir)] {
			survivors.dirs[dir] = true
		}
	}
	for _, name := range primitives.SortedKeys(d.durable.files) {
		if survivors.dirs[path.Dir(name)] {
			n := d.durable.files[name]
			lost += n.crash(&d.draw)
			survivors.files[name] = n
		}
	}
	d.durable = survivors
	d.now = survivors.clone()
	d.locks = map[string]*lock{}
	d.host.sim.note(KindDisk, uint64(diskCrashes)<<32|uint64(d.host.index), uint64(lost))
}

func (n *inode) write(p []byte, off int64) {
	c := unsynced{off: off, fresh: slices.Clone(p), size: int64(len(n.data))}
	if off < c.size {
		c.before = slices.Clone(n.data[off:min(off+int64(len(p)), c.size)])
	}
	n.put(p, off)
	n.settle(off, off+int64(len(p)))
	n.unsynced = append(n.unsynced, c)
}

func (n *inode) put(p []byte, off int64) {
	n.resize(max(int64(len(n.data)), off+int64(len(p))))
	copy(n.data[off:], p)
}

func (n *inode) truncate(size int64) {
	c := unsynced{off: size, size: int64(len(n.data)), trunc: true}
	if size < c.size {
		c.before = slices.Clone(n.data[size:])
	}
	n.resize(size)
	n.settle(size, math.MaxInt64)
	n.unsynced = append(n.unsynced, c)
}

func (n *inode) resize(size int64) {
	if size <= int64(len(n.data)) {
		n.data = n.data[:size]
		return
	}
	old := len(n.data)
	n.data = slices.Grow(n.data, int(size)-old)[:size]
	clear(n.data[old:])
}

// synced makes the changes before number count durable.
func (n *inode) synced(count int) {
	done := max(count-n.started, 0)
	n.unsynced = append([]unsynced(nil), n.unsynced[done:]...)
	n.started += done
}

// doubt is what a failed sync makes of the changes before number count.
func (n *inode) doubt(count int) {
	for _, c := range n.unsynced[:max(count-n.started, 0)] {
		if !c.trunc {
			n.doubtful = append(n.doubtful, doubtful{c.off, c.off + int64(len(c.fresh)), c.before})
		}
	}
	n.synced(count)
}

// settle ends the doubt about a range that was written again.
func (n *inode) settle(off, end int64) {
	var kept []doubtful
	for _, d := range n.doubtful {
		if off > d.off {
			left := min(off, d.end)
			kept = append(kept, doubtful{d.off, left, d.before[:min(left-d.off, int64(len(d.before)))]})
		}
		if end < d.end {
			right := max(end, d.off)
			kept = append(kept, doubtful{right, d.end, d.before[min(right-d.off, int64(len(d.before))):]})
		}
	}
	n.doubtful = slices.DeleteFunc(kept, func(d doubtful) bool { return d.off >= d.end })
}

// crash undoes the unsynchronised changes and redoes those that luck keeps. It
// returns how many were not kept whole.
func (n *inode) crash(draw *Stream) (lost int) {
	changes := n.unsynced
	n.unsynced, n.started = nil, 0
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		n.resize(c.size)
		if len(c.before) > 0 {
			copy(n.data[c.off:], c.before)
		}
	}
	for _, c := range changes {
		luck := draw.Below(3)
		switch {
		case luck == 0:
			lost++
		case c.trunc:
			n.resize(c.off)
		case luck == 1:
			n.put(c.fresh, c.off)
		default:
			lost++
			n.put(c.fresh[:draw.Below(uint64(len(c.fresh)))], c.off)
		}
	}
	for i := len(n.doubtful) - 1; i >= 0; i-- {
		if draw.Below(2) == 0 {
			lost++
			n.lose(n.doubtful[i])
		}
	}
	n.doubtful = nil
	return lost
}

// lose takes a doubtful range back: what stood there returns, and where nothing
// stood the file ends or is zero.
func (n *inode) lose(d doubtful) {
	size := int64(len(n.data))
	if d.off >= size {
		return
	}
	back := copy(n.data[d.off:min(d.end, size)], d.before)
	if from := d.off + int64(back); d.end >= size {
		n.resize(from)
	} else {
		clear(n.data[from:d.end])
	}
}

func (s *names) apply(c dirChange) {
	switch c.kind {
	case changeLink:
		s.files[c.name] = c.node
	case changeUnlink:
		delete(s.files, c.name)
		delete(s.dirs, c.name)
	case changeMkdir:
		s.dirs[c.name] = true
	case changeRename:
		s.rename(c)
	}
}

func (s *names) rename(c dirChange) {
	if c.node != nil {
		delete(s.files, c.name)
		s.files[c.to] = c.node
		return
	}
	for _, old := range s.below(c.name) {
		moved := c.to + strings.TrimPrefix(old, c.name)
		if s.dirs[old] {
			delete(s.dirs, old)
			s.dirs[moved] = true
		} else {
			s.files[moved] = s.files[old]
			delete(s.files, old)
		}
	}
}

// below returns the name and every name under it, parents first.
func (s *names) below(name string) []string {
	var out []string
	under := func(n string) bool {
		return n == name || strings.HasPrefix(n, strings.TrimSuffix(name, "/")+"/")
	}
	for n := range s.dirs { //plexus:orderfree sorted below
		if under(n) {
			out = append(out, n)
		}
	}
	for n := range s.files { //plexus:orderfree sorted below
		if under(n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func (s *names) empty(dir string) bool { return len(s.below(dir)) == 1 }

func (s *names) list(dir string) []primitives.FileEntry {
	var out []primitives.FileEntry
	for _, name := range s.below(dir) {
		if name == dir || path.Dir(name) != dir {
			continue
		}
		e := primitives.FileEntry{Name: path.Base(name), Dir: s.dirs[name]}
		if !e.Dir {
			e.Size = int64(len(s.files[name].data))
		}
		out = append(out, e)
	}
	return out
}

func (s *names) clone() names {
	c := names{files: make(map[string]*inode, len(s.files)), dirs: make(map[string]bool, len(s.dirs))}
	for n, f := range s.files { //plexus:orderfree a copy
		c.files[n] = f
	}
	for n := range s.dirs { //plexus:orderfree a copy
		c.dirs[n] = true
	}
	return c
}
