package primitives

// Files is the node's stable storage. Names are slash-separated paths. A missing
// file is fs.ErrNotExist, an existing one under exclusive creation fs.ErrExist,
// a full disk syscall.ENOSPC.
//
// Durability is explicit: bytes survive a crash of the host once Sync of their
// file returned, and a created, renamed or removed name once SyncDir of its
// directory returned. Everything else may be lost, and the last write may be
// torn. After a failed Sync nothing about the file is known.
type Files interface {
	Open(name string) (File, error)
	// Create opens a new empty file for writing; without exclusive it truncates
	// an existing one.
	Create(name string, exclusive bool) (File, error)
	// Rename replaces newName atomically.
	Rename(oldName, newName string) error
	Remove(name string) error
	// RemoveAll removes a tree; a missing one is no error.
	RemoveAll(name string) error
	MkdirAll(dir string) error
	// List returns the entries of a directory in name order.
	List(dir string) ([]FileEntry, error)
	SyncDir(dir string) error
	// Lock takes an exclusive lock that ends with Unlock or with the process.
	// A held lock is ErrLocked.
	Lock(name string) (Lock, error)
}

// FileEntry is one name in a directory.
type FileEntry struct {
	Name string
	Dir  bool
	Size int64 // bytes; 0 for a directory
}

// File is one open file. Its methods are not safe for concurrent use, except
// ReadAt.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	// Append writes at the end.
	Append(p []byte) (int, error)
	Truncate(size int64) error
	Size() (int64, error)
	// Sync makes data and metadata of the file durable.
	Sync() error
	Close() error
}

// Lock is a held file lock.
type Lock interface{ Unlock() error }
