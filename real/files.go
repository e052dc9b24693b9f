package real

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"plexus/primitives"
)

// Everything a node writes is its own: identity, credentials, the log of
// commands.
const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// files is the file system of the operating system.
type files struct{}

// Open implements primitives.Files. A file this user may only read is opened for
// reading.
func (files) Open(name string) (primitives.File, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), os.O_RDWR, fileMode)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = os.Open(filepath.FromSlash(name))
	}
	return opened(f, err)
}

// Create implements primitives.Files.
func (files) Create(name string, exclusive bool) (primitives.File, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_TRUNC
	if exclusive {
		flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	}
	return opened(os.OpenFile(filepath.FromSlash(name), flags, fileMode))
}

func opened(f *os.File, err error) (primitives.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{File: f, end: info.Size()}, nil
}

// Rename implements primitives.Files.
func (files) Rename(oldName, newName string) error {
	return os.Rename(filepath.FromSlash(oldName), filepath.FromSlash(newName))
}

// Remove implements primitives.Files.
func (files) Remove(name string) error { return os.Remove(filepath.FromSlash(name)) }

// RemoveAll implements primitives.Files.
func (files) RemoveAll(name string) error { return os.RemoveAll(filepath.FromSlash(name)) }

// MkdirAll implements primitives.Files.
func (files) MkdirAll(dir string) error { return os.MkdirAll(filepath.FromSlash(dir), dirMode) }

// List implements primitives.Files.
func (files) List(dir string) ([]primitives.FileEntry, error) {
	names, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	entries := make([]primitives.FileEntry, 0, len(names))
	for _, n := range names {
		entry := primitives.FileEntry{Name: n.Name(), Dir: n.IsDir()}
		if !entry.Dir {
			info, err := n.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since the directory was read
			}
			if err != nil {
				return nil, err
			}
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// SyncDir implements primitives.Files.
func (files) SyncDir(dir string) error {
	d, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// file is one open file. It keeps its own idea of the end, so that an append is
// one system call.
type file struct {
	*os.File
	end int64
}

// WriteAt implements primitives.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	if n > 0 {
		f.end = max(f.end, off+int64(n))
	}
	return n, err
}

// Append implements primitives.File.
func (f *file) Append(p []byte) (int, error) { return f.WriteAt(p, f.end) }

// Truncate implements primitives.File.
func (f *file) Truncate(size int64) error {
	err := f.File.Truncate(size)
	if err == nil {
		f.end = size
	}
	return err
}

// Size implements primitives.File.
func (f *file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
