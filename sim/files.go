package sim

import (
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	"plexus/primitives"
)

// Files implements primitives.World.
func (p *Process) Files() primitives.Files { return (*files)(p) }

// files is a process as primitives.Files.
type files Process

var _ primitives.Files = (*files)(nil)

// clean makes a name absolute.
func clean(name string) string { return path.Clean("/" + name) }

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// begin is the common start of every operation: it may lose the turn, takes the
// disk's time and meets its faults.
func (p *files) begin(op, name string, change bool) error {
	if p.dead {
		return pathError(op, name, fs.ErrClosed)
	}
	p.sim.preempt()
	d := p.host.disk
	if d.slow > 0 {
		p.sim.sleep(d.slow, "slow disk")
	}
	switch {
	case p.dead:
		return pathError(op, name, fs.ErrClosed)
	case change && d.readOnly:
		return pathError(op, name, syscall.EROFS)
	case change && d.full:
		return pathError(op, name, syscall.ENOSPC)
	}
	return nil
}

// Open implements primitives.Files.
func (p *files) Open(name string) (primitives.File, error) {
	if err := p.begin("open", name, false); err != nil {
		return nil, err
	}
	d, full := p.host.disk, clean(name)
	n := d.now.files[full]
	switch {
	case d.now.dirs[full]:
		return nil, pathError("open", name, syscall.EISDIR)
	case n == nil:
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return p.handle(n, full), nil
}

// Create implements primitives.Files.
func (p *files) Create(name string, exclusive bool) (primitives.File, error) {
	if err := p.begin("create", name, true); err != nil {
		return nil, err
	}
	d, full := p.host.disk, clean(name)
	n := d.now.files[full]
	switch {
	case d.now.dirs[full]:
		return nil, pathError("create", name, syscall.EISDIR)
	case !d.now.dirs[path.Dir(full)]:
		return nil, pathError("create", name, fs.ErrNotExist)
	case n != nil && exclusive:
		return nil, pathError("create", name, fs.ErrExist)
	case n != nil:
		n.truncate(0)
	default:
		n = &inode{}
		d.change(dirChange{dir: path.Dir(full), kind: changeLink, name: full, node: n})
	}
	return p.handle(n, full), nil
}

func (p *files) handle(n *inode, name string) *file {
	f := &file{process: (*Process)(p), node: n, name: name}
	f.process.keep(f)
	return f
}

// Rename implements primitives.Files.
func (p *files) Rename(oldName, newName string) error {
	if err := p.begin("rename", oldName, true); err != nil {
		return err
	}
	d, from, to := p.host.disk, clean(oldName), clean(newName)
	switch {
	case d.now.files[from] == nil && !d.now.dirs[from]:
		return pathError("rename", oldName, fs.ErrNotExist)
	case !d.now.dirs[path.Dir(to)]:
		return pathError("rename", newName, fs.ErrNotExist)
	case d.now.dirs[to] && (d.now.files[from] != nil || !d.now.empty(to)):
		return pathError("rename", newName, fs.ErrExist)
	case d.now.files[to] != nil && d.now.dirs[from]:
		return pathError("rename", newName, syscall.ENOTDIR)
	}
	if from != to {
		d.change(dirChange{dir: path.Dir(to), kind: changeRename, name: from, to: to, node: d.now.files[from]})
	}
	return nil
}

// Remove implements primitives.Files.
func (p *files) Remove(name string) error {
	if err := p.begin("remove", name, false); err != nil {
		return err
	}
	d, full := p.host.disk, clean(name)
	switch {
	case d.readOnly:
		return pathError("remove", name, syscall.EROFS)
	case d.now.files[full] == nil && !d.now.dirs[full]:
		return pathError("remove", name, fs.ErrNotExist)
	case d.now.dirs[full] && !d.now.empty(full):
		return pathError("remove", name, syscall.ENOTEMPTY)
	}
	d.change(dirChange{dir: path.Dir(full), kind: changeUnlink, name: full})
	return nil
}

// RemoveAll implements primitives.Files.
func (p *files) RemoveAll(name string) error {
	if err := p.begin("remove", name, false); err != nil {
		return err
	}
	d, full := p.host.disk, clean(name)
	if d.readOnly {
		return pathError("remove", name, syscall.EROFS)
	}
	below := d.now.below(full)
	for i := len(below) - 1; i >= 0; i-- { // children before their directory
		d.change(dirChange{dir: path.Dir(below[i]), kind: changeUnlink, name: below[i]})
	}
	return nil
}

// MkdirAll implements primitives.Files.
func (p *files) MkdirAll(dir string) error {
	if err := p.begin("mkdir", dir, true); err != nil {
		return err
	}
	return p.mkdir(dir, clean(dir))
}

func (p *files) mkdir(asked, full string) error {
	d := p.host.disk
	switch {
	case d.now.dirs[full]:
		return nil
	case d.now.files[full] != nil:
		return pathError("mkdir", asked, syscall.ENOTDIR)
	}
	if err := p.mkdir(asked, path.Dir(full)); err != nil {
		return err
	}
	d.change(dirChange{dir: path.Dir(full), kind: changeMkdir, name: full})
	return nil
}

// List implements primitives.Files.
func (p *files) List(dir string) ([]primitives.FileEntry, error) {
	if err := p.begin("list", dir, false); err != nil {
		return nil, err
	}
	d, full := p.host.disk, clean(dir)
	if !d.now.dirs[full] {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	return d.now.list(full), nil
}

// SyncDir implements primitives.Files.
func (p *files) SyncDir(dir string) error {
	if err := p.begin("sync", dir, false); err != nil {
		return err
	}
	d, full := p.host.disk, clean(dir)
	if !d.now.dirs[full] {
		return pathError("sync", dir, fs.ErrNotExist)
	}
	count := len(d.pending)
	if err := p.flush("sync", dir); err != nil {
		return err
	}
	d.commit(full, count)
	return nil
}

// flush is the time and the outcome of bringing something onto the medium.
func (p *files) flush(op, name string) error {
	d := p.host.disk
	p.sim.sleep(d.profile.SyncLatency+time.Duration(d.draw.Between(0, int64(d.profile.SyncJitter))), "disk sync")
	if d.failSyncs > 0 {
		d.failSyncs--
		p.sim.note(KindDisk, uint64(diskSyncFails)<<32|uint64(p.host.index), 0)
		return pathError(op, name, syscall.EIO)
	}
	return nil
}

// Lock implements primitives.Files.
func (p *files) Lock(name string) (primitives.Lock, error) {
	if err := p.begin("lock", name, false); err != nil {
		return nil, err
	}
	d, full := p.host.disk, clean(name)
	if holder := d.locks[full]; holder != nil && !holder.process.dead {
		return nil, pathError("lock", name, primitives.ErrLocked)
	}
	l := &lock{process: (*Process)(p), name: full}
	d.locks[full] = l
	l.process.keep(l)
	return l, nil
}

type lock struct {
	process *Process
	name    string
	place   int
}

func (l *lock) Unlock() error {
	d := l.process.host.disk
	if l.process.dead || d.locks[l.name] != l {
		return pathError("unlock", l.name, fs.ErrClosed)
	}
	delete(d.locks, l.name)
	l.process.drop(l)
	return nil
}

func (l *lock) shut()            {}
func (l *lock) lose()            {}
func (l *lock) describe() string { return "lock " + l.name }
func (l *lock) slot() *int       { return &l.place }

// file is an open file.
type file struct {
	process *Process
	node    *inode
	name    string
	closed  bool
	place   int
}

var _ primitives.File = (*file)(nil)

func (f *file) begin(op string, change bool) error {
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	return (*files)(f.process).begin(op, f.name, change)
}

// ReadAt implements primitives.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.begin("read", false); err != nil {
		return 0, err
	}
	d := f.process.host.disk
	if d.failReads > 0 {
		d.failReads--
		return 0, pathError("read", f.name, syscall.EIO)
	}
	if off < 0 {
		return 0, pathError("read", f.name, fs.ErrInvalid)
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if d.flipReads > 0 && n > 0 {
		d.flipReads--
		bit := d.draw.Below(uint64(n) * 8)
		p[bit/8] ^= 1 << (bit % 8)
		f.process.sim.note(KindDisk, uint64(diskFlips)<<32|uint64(f.process.host.index), bit)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements primitives.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.begin("write", true); err != nil {
		return 0, err
	}
	return f.write(p, off)
}

// Append implements primitives.File.
func (f *file) Append(p []byte) (int, error) {
	if err := f.begin("write", true); err != nil {
		return 0, err
	}
	return f.write(p, int64(len(f.node.data)))
}

func (f *file) write(p []byte, off int64) (int, error) {
	d := f.process.host.disk
	if off < 0 {
		return 0, pathError("write", f.name, fs.ErrInvalid)
	}
	room := int64(len(p))
	if d.profile.Capacity > 0 {
		growth := max(off+int64(len(p))-int64(len(f.node.data)), 0)
		if left := max(d.profile.Capacity-d.used(), 0); growth > left {
			room = max(int64(len(p))-(growth-left), 0)
		}
	}
	if room > 0 {
		f.node.write(p[:room], off)
	}
	f.process.sim.note(KindDisk, uint64(diskWrites)<<32|uint64(f.process.host.index), uint64(room))
	if room < int64(len(p)) {
		return int(room), pathError("write", f.name, syscall.ENOSPC)
	}
	return len(p), nil
}

// Truncate implements primitives.File.
func (f *file) Truncate(size int64) error {
	if err := f.begin("truncate", true); err != nil {
		return err
	}
	if size < 0 {
		return pathError("truncate", f.name, fs.ErrInvalid)
	}
	f.node.truncate(size)
	return nil
}

// Size implements primitives.File.
func (f *file) Size() (int64, error) {
	if f.closed || f.process.dead {
		return 0, pathError("stat", f.name, fs.ErrClosed)
	}
	return int64(len(f.node.data)), nil
}

// Sync implements primitives.File. What was written when it was called is durable
// when it returns.
func (f *file) Sync() error {
	if err := f.begin("sync", false); err != nil {
		return err
	}
	n := f.node
	count := n.started + len(n.unsynced)
	if err := (*files)(f.process).flush("sync", f.name); err != nil {
		n.doubt(count)
		return err
	}
	f.process.sim.note(KindDisk, uint64(diskSyncs)<<32|uint64(f.process.host.index), uint64(len(n.data)))
	n.synced(count)
	return nil
}

// Close implements primitives.File.
func (f *file) Close() error {
	if f.closed || f.process.dead {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.process.drop(f)
	return nil
}

func (f *file) shut()            {}
func (f *file) lose()            {}
func (f *file) describe() string { return "file " + f.name }
func (f *file) slot() *int       { return &f.place }
