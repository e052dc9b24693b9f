package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	supersededRefused = invariant.Sometimes("state that the schedule does not publish was refused")
	olderKept         = invariant.Sometimes("an older checkpoint did not replace a newer one")
)

// NotCurrentError refuses state that the applied schedule does not publish.
type NotCurrentError struct{ Placement Placement }

func (e *NotCurrentError) Error() string {
	return fmt.Sprintf("%s is not what the applied schedule publishes", e.Placement)
}

// Store keeps the node's own checkpoints and its replicas of others', one file
// each. One task at a time writes a placement.
type Store struct {
	world primitives.World
	dir   string

	lock    *primitives.Mutex // guards what follows; nothing waits under it
	current map[string]map[Identity]bool
	known   map[Placement]entry
	tried   map[Placement]Ref // the highest revision a publication was begun for
	rooted  map[string]bool   // directories whose names are durable
}

// entry is a checkpoint in its place.
type entry struct {
	ref    Ref  // without length and digest until they are known
	hashed bool // they are known
}

// checkpointsDir is below the data directory. No domain has such a name.
const checkpointsDir = "state/@checkpoints"

// OpenStore reads what a data directory holds. Checkpoints that do not read are
// named in the log and stay where they are, so that a restore that misses them
// says so.
func OpenStore(w primitives.World, dataDir string) (*Store, error) {
	s := &Store{
		world: w, dir: dataDir + "/" + checkpointsDir, lock: primitives.NewMutex(w),
		current: map[string]map[Identity]bool{}, known: map[Placement]entry{}, tried: map[Placement]Ref{},
		rooted: map[string]bool{},
	}
	if err := primitives.MakeDirectory(w.Files(), s.dir); err != nil {
		return nil, fmt.Errorf("create checkpoint directory: %w", err)
	}
	if err := s.root(dataDir); err != nil {
		return nil, err
	}
	domains, err := w.Files().List(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	for _, domain := range domains {
		if err := s.load(s.dir + "/" + domain.Name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// root makes the names of the directories durable, whoever created them.
func (s *Store) root(dataDir string) error {
	for _, dir := range []string{dataDir, dataDir + "/" + directory, s.dir} {
		if err := s.world.Files().SyncDir(dir); err != nil {
			return fmt.Errorf("synchronise %s: %w", dir, err)
		}
	}
	return nil
}

// load reads the headers of a domain's checkpoints. An earlier process may have
// put them into place and not lived to make that durable.
func (s *Store) load(dir string) error {
	if err := s.world.Files().SyncDir(dir); err != nil {
		return fmt.Errorf("synchronise %s: %w", dir, err)
	}
	files, err := s.world.Files().List(dir)
	if err != nil {
		return fmt.Errorf("list checkpoints: %w", err)
	}
	for _, f := range files {
		name := dir + "/" + f.Name
		if !strings.HasSuffix(f.Name, containerSuffix) {
			if err := s.world.Files().Remove(name); err != nil { // a write that did not finish
				return fmt.Errorf("remove %s: %w", name, err)
			}
			continue
		}
		c, err := OpenContainer(s.world.Files(), name)
		if damage := (*ContainerError)(nil); errors.As(err, &damage) {
			s.world.Log().Error("a checkpoint does not read", "file", name, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		s.known[c.Placement] = entry{ref: Ref{Placement: c.Placement, Revision: c.Revision, Fence: c.Fence}}
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// locked runs f with the index.
func (s *Store) locked(f func()) {
	if s.lock.Lock(context.Background()) == nil { // never held across a wait
		f()
		s.lock.Unlock()
	}
}

// Publishes replaces what the applied schedule of a domain publishes. Until it was
// called, nothing of the domain is current.
func (s *Store) Publishes(domain string, identities []Identity) {
	set := map[Identity]bool{}
	for _, id := range identities {
		set[id] = true
	}
	s.locked(func() { s.current[domain] = set })
}

// check refuses a placement that is not current.
func (s *Store) check(p Placement) (err error) {
	s.locked(func() {
		if supersededRefused.HitIf(!s.current[p.Domain][p.Identity]) && !planted.Active(planted.ReuseGeneration) {
			err = &NotCurrentError{p}
		}
	})
	return err
}

// Sweep removes at most so many checkpoints of a domain that are not current, and
// says whether more are left. Before Publishes it removes nothing.
func (s *Store) Sweep(domain string, limit int) (more bool, err error) {
	var gone []Placement
	s.locked(func() {
		set, applied := s.current[domain]
		if !applied {
			return
		}
		for p := range s.known { //plexus:orderfree sorted below
			if p.Domain == domain && !set[p.Identity] {
				gone = append(gone, p)
			}
		}
	})
	slices.SortFunc(gone, Placement.Compare)
	more = len(gone) > limit
	for _, p := range gone[:min(len(gone), limit)] {
		if err := s.Remove(p); err != nil {
			return true, err
		}
	}
	return more, nil
}

// Remove forgets a checkpoint.
func (s *Store) Remove(p Placement) error {
	dir, name, err := s.path(p)
	if err != nil {
		return err
	}
	if err := s.world.Files().Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove checkpoint of %s: %w", p, err)
	}
	s.locked(func() { delete(s.known, p) })
	return s.world.Files().SyncDir(dir)
}

func (s *Store) path(p Placement) (dir, name string, err error) {
	file, err := p.file()
	dir = s.dir + "/" + p.Domain
	return dir, dir + "/" + file, err
}

// latest returns what is known of a placement's checkpoint.
func (s *Store) latest(p Placement) (e entry, ok bool) {
	s.locked(func() { e, ok = s.known[p] })
	return e, ok
}

// Ref returns what names the newest checkpoint of a placement, false if there is
// none.
func (s *Store) Ref(p Placement) (Ref, bool, error) {
	if err := s.check(p); err != nil {
		return Ref{}, false, err
	}
	e, ok := s.latest(p)
	if !ok || e.hashed {
		return e.ref, ok, nil
	}
	c, err := s.Open(p)
	if err != nil {
		return Ref{}, false, err
	}
	ref, err := c.Verify()
	if err = errors.Join(err, c.Close()); err != nil {
		return Ref{}, false, err
	}
	s.locked(func() {
		if now := s.known[p]; now.ref.Revision == ref.Revision && now.ref.Fence == ref.Fence {
			s.known[p] = entry{ref, true}
		}
	})
	return ref, true, nil
}

// Open reads the newest checkpoint of a current placement; fs.ErrNotExist when
// there is none. The caller closes it.
func (s *Store) Open(p Placement) (*Container, error) {
	if err := s.check(p); err != nil {
		return nil, err
	}
	_, name, err := s.path(p)
	if err != nil {
		return nil, err
	}
	c, err := OpenContainer(s.world.Files(), name)
	if err != nil {
		return nil, err
	}
	if c.Placement != p {
		return nil, errors.Join(&ContainerError{File: name, What: "it holds " + c.Placement.String()}, c.Close())
	}
	return c, nil
}

// List returns the placements of one identity that have a checkpoint, by branch.
func (s *Store) List(id Identity) (list []Placement) {
	s.locked(func() {
		for p := range s.known { //plexus:orderfree sorted below
			if p.Identity == id {
				list = append(list, p)
			}
		}
	})
	slices.SortFunc(list, Placement.Compare)
	return list
}

// Next returns the revision that the next publication of the owner may have: no
// revision is used twice, not even after a write that failed.
func (s *Store) Next(p Placement, fence uint64) (revision uint64) {
	s.locked(func() {
		for _, r := range []Ref{s.known[p].ref, s.tried[p]} {
			if r.Fence == fence {
				revision = max(revision, r.Revision)
			}
		}
	})
	return revision + 1
}

// claim takes a revision for a publication: newer than what is kept, and never
// tried before.
func (s *Store) claim(r Ref) (err error) {
	s.locked(func() {
		for _, o := range []Ref{s.known[r.Placement].ref, s.tried[r.Placement]} {
			if !r.Newer(o) {
				err = &StaleError{r, o}
				return
			}
		}
		s.tried[r.Placement] = r
	})
	return err
}

// ReplacedError says that a checkpoint was asked for that another has replaced.
type ReplacedError struct{ Ref Ref }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("revision %d of %s is not kept any more", e.Ref.Revision, e.Ref.Placement)
}

// StaleError refuses a checkpoint that would replace a newer or equal one.
type StaleError struct{ Offered, Kept Ref }

func (e *StaleError) Error() string {
	return fmt.Sprintf("checkpoint of %s: revision %d under fence %d does not supersede revision %d under fence %d",
		e.Offered.Placement, e.Offered.Revision, e.Offered.Fence, e.Kept.Revision, e.Kept.Fence)
}

// Publish makes a snapshot of the owner durable in place of the one before.
func (s *Store) Publish(snapshot *Snapshot) (Ref, error) {
	if err := s.check(snapshot.Placement); err != nil {
		return Ref{}, err
	}
	if err := s.claim(Ref{Placement: snapshot.Placement, Revision: snapshot.Revision, Fence: snapshot.Fence}); err != nil {
		return Ref{}, err
	}
	var ref Ref
	err := s.replace(snapshot.Placement, func(next string) error {
		file, err := s.world.Files().Create(next, false)
		if err != nil {
			return err
		}
		ref, err = snapshot.write(file)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		return errors.Join(file.Sync(), file.Close())
	})
	if err != nil {
		return Ref{}, fmt.Errorf("write checkpoint of %s: %w", snapshot.Placement, err)
	}
	s.locked(func() { s.known[ref.Placement] = entry{ref, true} })
	return ref, nil
}

// Install makes a verified transfer durable as the newest checkpoint of its
// placement, if it is newer. It reports whether it did; otherwise the store holds
// something at least as new.
func (s *Store) Install(st *Staged) (installed bool, err error) {
	if err := s.check(st.Ref.Placement); err != nil {
		return false, errors.Join(err, st.Discard())
	}
	if e, known := s.latest(st.Ref.Placement); olderKept.HitIf(known && !st.Ref.Newer(e.ref)) {
		return false, st.Discard()
	}
	err = s.replace(st.Ref.Placement, st.Keep)
	if err != nil {
		return false, errors.Join(fmt.Errorf("install checkpoint of %s: %w", st.Ref.Placement, err), st.Discard())
	}
	s.locked(func() { s.known[st.Ref.Placement] = entry{st.Ref, true} })
	return true, nil
}

// Restore makes a verified container the checkpoint of its placement, whatever
// was there: the committed owner change says so.
func (s *Store) Restore(c *Container) error {
	ref, err := c.Verify()
	if err != nil {
		return err
	}
	err = s.replace(c.Placement, func(next string) error { return c.copy(s.world.Files(), next, ref) })
	if err != nil {
		return fmt.Errorf("restore checkpoint of %s: %w", c.Placement, err)
	}
	s.locked(func() { s.known[c.Placement] = entry{ref, true} })
	return nil
}

// replace lets write make a durable file and puts it into its place in one step
// that survives a crash.
func (s *Store) replace(p Placement, write func(next string) error) error {
	files := s.world.Files()
	dir, name, err := s.path(p)
	if err != nil {
		return err
	}
	if err := s.ensure(dir); err != nil {
		return err
	}
	next := name + ".next"
	if err := write(next); err != nil {
		return err
	}
	if err := files.Rename(next, name); err != nil {
		return err
	}
	return files.SyncDir(dir)
}

// ensure makes a domain's directory and its name durable, once per process.
func (s *Store) ensure(dir string) error {
	done := false
	s.locked(func() { done = s.rooted[dir] })
	if done {
		return nil
	}
	files := s.world.Files()
	if err := errors.Join(files.MkdirAll(dir), files.SyncDir(s.dir)); err != nil {
		return err
	}
	s.locked(func() { s.rooted[dir] = true })
	return nil
}
