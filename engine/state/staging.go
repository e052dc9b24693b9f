package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync/atomic"

	"plexus/primitives"
)

// StagingFullError refuses a transfer that does not fit.
type StagingFullError struct{ Limit, Used, Requested uint64 }

func (e *StagingFullError) Error() string {
	return fmt.Sprintf("staging-max-bytes is %d bytes: %d are used and %d more are requested", e.Limit, e.Used, e.Requested)
}

// Staging is the part of the disk for what is under way: transfers that are not
// complete, and captures that are being fetched. Nothing of it survives a start.
type Staging struct {
	world primitives.World
	dir   string
	limit uint64

	lock *primitives.Mutex // guards what follows; nothing waits under it
	used atomic.Uint64     // changed under the lock, read without it
	next uint64
}

// stagingDir is the directory of checkpoints below the node's staging directory.
const stagingDir = "staging/state"

// OpenStaging empties the staging directory of a data directory.
func OpenStaging(w primitives.World, dataDir string, limit uint64) (*Staging, error) {
	s := &Staging{world: w, dir: dataDir + "/" + stagingDir, limit: limit, lock: primitives.NewMutex(w)}
	if err := w.Files().RemoveAll(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("empty staging directory: %w", err)
	}
	if err := primitives.MakeDirectory(w.Files(), s.dir); err != nil {
		return nil, fmt.Errorf("create staging directory: %w", err)
	}
	return s, nil
}

// locked runs f with the accounts.
func (s *Staging) locked(f func()) {
	if s.lock.Lock(context.Background()) == nil { // never held across a wait
		f()
		s.lock.Unlock()
	}
}

// reserve charges bytes before the first of them is written.
func (s *Staging) reserve(bytes uint64) (err error) {
	s.locked(func() {
		if used := s.used.Load(); bytes > s.limit || used > s.limit-bytes {
			err = &StagingFullError{s.limit, used, bytes}
			return
		}
		s.used.Add(bytes)
	})
	return err
}

// Used is what is charged.
func (s *Staging) Used() uint64 { return s.used.Load() }

// Staged is one file in staging.
type Staged struct {
	staging *Staging
	path    string
	charged uint64
	Ref     Ref // once complete
}

// create reserves room and opens a new file.
func (s *Staging) create(bytes uint64) (*Staged, primitives.File, error) {
	if err := s.reserve(bytes); err != nil {
		return nil, nil, err
	}
	st := s.place(bytes)
	file, err := s.world.Files().Create(st.path, true)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("stage: %w", err), st.Discard())
	}
	return st, file, nil
}

// Capture writes a snapshot into staging, where others fetch it from.
func (s *Staging) Capture(snapshot *Snapshot) (*Staged, error) {
	header, err := snapshot.encodeHeader()
	if err != nil {
		return nil, err
	}
	bytes := uint64(len(header))
	for _, section := range snapshot.Sections {
		bytes += uint64(len(section.Bytes))
	}
	st, file, err := s.create(bytes)
	if err != nil {
		return nil, err
	}
	st.Ref, err = snapshot.write(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("stage %s: %w", snapshot.Placement, err), st.Discard())
	}
	return st, nil
}

// Adopt stages a verified copy of a container.
func (s *Staging) Adopt(c *Container, ref Ref) (*Staged, error) {
	if err := s.reserve(ref.Length); err != nil {
		return nil, err
	}
	st := s.place(ref.Length)
	if err := c.copy(s.world.Files(), st.path, ref); err != nil {
		return nil, errors.Join(fmt.Errorf("stage %s: %w", ref.Placement, err), st.Discard())
	}
	st.Ref = ref
	return st, nil
}

// place names a new staged file, whose room is reserved.
func (s *Staging) place(charged uint64) *Staged {
	st := &Staged{staging: s, charged: charged}
	s.locked(func() {
		s.next++
		st.path = s.dir + "/" + strconv.FormatUint(s.next, 10)
	})
	return st
}

// Open reads a complete staged file.
func (st *Staged) Open() (primitives.File, error) { return st.staging.world.Files().Open(st.path) }

// Keep makes the content durable and moves the file to another place, whose name
// the caller makes durable. It is not staged any more.
func (st *Staged) Keep(to string) error {
	files := st.staging.world.Files()
	if err := syncFile(files, st.path); err != nil {
		return err
	}
	if err := files.Rename(st.path, to); err != nil {
		return err
	}
	st.uncharge()
	return nil
}

// Discard removes the file and gives its room back. Repeating it is harmless.
func (st *Staged) Discard() error {
	err := st.staging.world.Files().Remove(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	st.uncharge()
	return err
}

func (st *Staged) uncharge() {
	st.staging.locked(func() {
		st.staging.used.Add(-st.charged)
		st.charged = 0
	})
}
