package control

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"plexus/primitives"
)

// disk is a Files that remembers what was synchronised. It has one directory
// level of truth: names are durable after SyncDir of their directory.
type disk struct {
	live    map[string]*inode // what the process sees
	durable map[string]*inode // names a crash keeps
	pending []nameChange      // names a crash may keep, a prefix of each directory's
	dirs    map[string]bool
	// writes counts the mutating calls; once it reaches failAt they fail.
	writes, failAt int
}

// nameChange is a name that got a file, or lost it.
type nameChange struct {
	name string
	node *inode // nil for a removal
}

type inode struct {
	data   []byte
	synced []byte
}

var errDisk = errors.New("disk failed")

func newDisk() *disk {
	return &disk{live: map[string]*inode{}, durable: map[string]*inode{}, dirs: map[string]bool{"": true}, failAt: -1}
}

// change makes a change of names visible and keeps it as undoable.
func (d *disk) change(name string, node *inode) {
	if node == nil {
		delete(d.live, name)
	} else {
		d.live[name] = node
	}
	d.pending = append(d.pending, nameChange{name, node})
}

// crash returns the disk after a power loss. keep decides per file how many of
// the bytes written since the last synchronisation survive, and for the name of a
// directory with a final slash how many changes of its names do.
func (d *disk) crash(keep func(name string, unsynced int) int) *disk {
	after := newDisk()
	after.dirs = maps.Clone(d.dirs)
	waiting := map[string]int{}
	for _, c := range d.pending {
		dir, _, _ := cutLast(c.name)
		waiting[dir]++
	}
	for _, dir := range primitives.SortedKeys(waiting) {
		waiting[dir] = keep(dir+"/", waiting[dir])
	}
	for _, c := range d.pending {
		if dir, _, _ := cutLast(c.name); waiting[dir] > 0 {
			waiting[dir]--
			d.settle(c)
		}
	}
	for _, name := range primitives.SortedKeys(d.durable) {
		n := d.durable[name]
		data := slices.Clone(n.synced)
		if extra := len(n.data) - len(n.synced); extra > 0 && string(n.data[:len(n.synced)]) == string(n.synced) {
			data = append(data, n.data[len(n.synced):len(n.synced)+keep(name, extra)]...)
		}
		after.live[name] = &inode{data: data, synced: slices.Clone(data)}
		after.durable[name] = after.live[name]
	}
	return after
}

func (d *disk) settle(c nameChange) {
	if c.node == nil {
		delete(d.durable, c.name)
	} else {
		d.durable[c.name] = c.node
	}
}

func (d *disk) mutate() error {
	d.writes++
	if d.failAt >= 0 && d.writes > d.failAt {
		return errDisk
	}
	return nil
}

func (d *disk) Open(name string) (primitives.File, error) {
	n, ok := d.live[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &diskFile{d, n}, nil
}

func (d *disk) Create(name string, exclusive bool) (primitives.File, error) {
	if err := d.mutate(); err != nil {
		return nil, err
	}
	if _, ok := d.live[name]; ok && exclusive {
		return nil, fs.ErrExist
	}
	n := &inode{}
	d.change(name, n)
	return &diskFile{d, n}, nil
}

func (d *disk) Rename(from, to string) error {
	if err := d.mutate(); err != nil {
		return err
	}
	node := d.live[from]
	if node == nil {
		d.renameDir(from, to)
		return nil
	}
	d.change(to, node)
	d.change(from, nil)
	return nil
}

// renameDir moves a directory. It has no name of its own here, so its files move.
func (d *disk) renameDir(from, to string) {
	delete(d.dirs, from)
	d.dirs[to] = true
	for _, path := range primitives.SortedKeys(d.live) {
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			node := d.live[path]
			delete(d.live, path)
			d.live[to+"/"+rest] = node
			if d.durable[path] == node {
				delete(d.durable, path)
				d.durable[to+"/"+rest] = node
			}
		}
	}
}

func (d *disk) Remove(name string) error {
	if err := d.mutate(); err != nil {
		return err
	}
	if _, ok := d.live[name]; !ok {
		return fs.ErrNotExist
	}
	d.change(name, nil)
	return nil
}

func (d *disk) RemoveAll(name string) error {
	if err := d.mutate(); err != nil {
		return err
	}
	for _, path := range primitives.SortedKeys(d.live) {
		if path == name || strings.HasPrefix(path, name+"/") {
			d.change(path, nil)
		}
	}
	for _, dir := range primitives.SortedKeys(d.dirs) {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			delete(d.dirs, dir)
		}
	}
	return nil
}

func (d *disk) MkdirAll(dir string) error {
	for dir != "" {
		d.dirs[dir] = true
		dir, _, _ = cutLast(dir)
	}
	return nil
}

func cutLast(path string) (dir, base string, ok bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

func (d *disk) List(dir string) ([]primitives.FileEntry, error) {
	if !d.dirs[dir] {
		return nil, fs.ErrNotExist
	}
	var list []primitives.FileEntry
	for _, path := range primitives.SortedKeys(d.live) {
		if parent, base, _ := cutLast(path); parent == dir {
			list = append(list, primitives.FileEntry{Name: base, Size: int64(len(d.live[path].data))})
		}
	}
	for _, path := range primitives.SortedKeys(d.dirs) {
		if parent, base, _ := cutLast(path); path != "" && parent == dir {
			list = append(list, primitives.FileEntry{Name: base, Dir: true})
		}
	}
	slices.SortFunc(list, func(a, b primitives.FileEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (d *disk) SyncDir(dir string) error {
	if err := d.mutate(); err != nil {
		return err
	}
	var later []nameChange
	for _, c := range d.pending {
		if parent, _, _ := cutLast(c.name); parent == dir {
			d.settle(c)
		} else {
			later = append(later, c)
		}
	}
	d.pending = later
	return nil
}

func (d *disk) Lock(string) (primitives.Lock, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Unlock() error { return nil }

type diskFile struct {
	disk *disk
	node *inode
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.mutate(); err != nil {
		return 0, err
	}
	f.node.data = append(f.node.data[:off], p...)
	return len(p), nil
}

func (f *diskFile) Append(p []byte) (int, error) {
	if err := f.disk.mutate(); err != nil {
		return 0, err
	}
	f.node.data = append(f.node.data, p...)
	return len(p), nil
}

func (f *diskFile) Truncate(size int64) error {
	if err := f.disk.mutate(); err != nil {
		return err
	}
	f.node.data = f.node.data[:size]
	return nil
}

func (f *diskFile) Size() (int64, error) { return int64(len(f.node.data)), nil }

func (f *diskFile) Sync() error {
	if err := f.disk.mutate(); err != nil {
		return err
	}
	f.node.synced = slices.Clone(f.node.data)
	return nil
}

func (f *diskFile) Close() error { return nil }

var (
	_ primitives.Files = (*disk)(nil)
	_ primitives.File  = (*diskFile)(nil)
)
