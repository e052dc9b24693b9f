package control

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// A snapshot is a directory INDEX-TERM (16 hex digits each) with files
// section-NNNN and a manifest. The manifest is published last: a directory
// without one never counted.

// SnapshotID names a snapshot.
type SnapshotID struct{ Index, Term uint64 }

func (id SnapshotID) dir() string { return fmt.Sprintf("%016x-%016x", id.Index, id.Term) }

func parseSnapshotDir(name string) (SnapshotID, bool) {
	left, right, ok := strings.Cut(name, "-")
	if !ok || len(left) != 16 || len(right) != 16 {
		return SnapshotID{}, false
	}
	index, err1 := strconv.ParseUint(left, 16, 64)
	term, err2 := strconv.ParseUint(right, 16, 64)
	id := SnapshotID{index, term}
	return id, err1 == nil && err2 == nil && id.dir() == name
}

func sectionName(i int) string { return fmt.Sprintf("section-%04d", i) }

const manifestName = "manifest"

// writeSnapshot stores a state under dir and publishes it.
func writeSnapshot(files primitives.Files, dir string, owner walIdentity, id SnapshotID, voters []uint64, state *catalog.State) error {
	path := dir + "/" + id.dir()
	if err := files.MkdirAll(path); err != nil {
		return fmt.Errorf("create snapshot directory: %w", err)
	}
	m := &controlpb.Manifest{Format: format, Cluster: owner.Cluster[:], Index: id.Index, Term: id.Term, Voters: voters}
	whole := sha256.New()
	for section, err := range state.Sections(sectionBytesMax) {
		if err != nil {
			return err
		}
		if err := writeSynced(files, path+"/"+sectionName(len(m.Sections)), section); err != nil {
			return err
		}
		whole.Write(section)
		digest := sha256.Sum256(section)
		m.Sections = append(m.Sections, &controlpb.Section{Length: uint64(len(section)), Sha256: digest[:]})
	}
	m.StateDigest = whole.Sum(nil)
	if err := sealManifest.write(files, path, manifestName, m); err != nil {
		return err
	}
	if err := files.SyncDir(dir); err != nil {
		return fmt.Errorf("synchronise snapshot directory: %w", err)
	}
	return nil
}

// loadedSnapshot is the newest published snapshot.
type loadedSnapshot struct {
	id     SnapshotID
	voters []uint64
	state  *catalog.State
}

// loadSnapshot removes what was never published and reads the newest snapshot. An
// older one stays until the next is written: the newest may have been published
// by a directory that was never synchronised, and then the log still reaches back
// to the older one.
func loadSnapshot(files primitives.Files, dir string, owner walIdentity) (*loadedSnapshot, error) {
	published, err := sweepSnapshots(files, dir)
	if err != nil {
		return nil, err
	}
	if len(published) == 0 {
		return nil, &DamageError{File: dir, What: "no snapshot is left"}
	}
	return readSnapshot(files, dir, owner, published[len(published)-1])
}

// sweepSnapshots removes unpublished directories and lists the published ones,
// oldest first.
func sweepSnapshots(files primitives.Files, dir string) ([]SnapshotID, error) {
	list, err := files.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var published []SnapshotID
	for _, entry := range list {
		id, ok := parseSnapshotDir(entry.Name)
		if !ok {
			return nil, &DamageError{File: dir + "/" + entry.Name, What: "not a snapshot"}
		}
		switch _, err := readFile(files, dir+"/"+entry.Name+"/"+manifestName); {
		case err == nil:
			published = append(published, id)
		case missing(err):
			if err := files.RemoveAll(dir + "/" + entry.Name); err != nil {
				return nil, fmt.Errorf("remove unpublished snapshot: %w", err)
			}
		default:
			return nil, fmt.Errorf("read snapshot manifest: %w", err)
		}
	}
	return published, nil
}

func removeSnapshots(files primitives.Files, dir string, ids []SnapshotID) error {
	for _, id := range ids {
		// The manifest goes first: a directory half removed is unpublished.
		path := dir + "/" + id.dir()
		if err := files.Remove(path + "/" + manifestName); err != nil {
			return fmt.Errorf("remove snapshot %s: %w", id.dir(), err)
		}
		if err := files.SyncDir(path); err != nil {
			return fmt.Errorf("remove snapshot %s: %w", id.dir(), err)
		}
		if err := files.RemoveAll(path); err != nil {
			return fmt.Errorf("remove snapshot %s: %w", id.dir(), err)
		}
	}
	return nil
}

func readSnapshot(files primitives.Files, dir string, owner walIdentity, id SnapshotID) (*loadedSnapshot, error) {
	path := dir + "/" + id.dir()
	m, err := readManifest(files, path+"/"+manifestName)
	if err != nil {
		return nil, err
	}
	switch {
	case m.GetFormat() != format:
		return nil, &ForeignError{Dir: path, What: fmt.Sprintf("snapshot format %d, this build reads %d", m.GetFormat(), format)}
	case string(m.GetCluster()) != string(owner.Cluster[:]):
		return nil, &ForeignError{Dir: path, What: "the snapshot belongs to another cluster"}
	case m.GetIndex() != id.Index || m.GetTerm() != id.Term:
		return nil, &DamageError{File: path, What: "the snapshot was renamed"}
	}
	state, err := readSections(files, path, m)
	if err != nil {
		return nil, err
	}
	if state.Applied != id.Index {
		return nil, &DamageError{File: path, What: fmt.Sprintf("the snapshot holds the state at index %d", state.Applied)}
	}
	return &loadedSnapshot{id: id, voters: m.GetVoters(), state: state}, nil
}

func readManifest(files primitives.Files, name string) (*controlpb.Manifest, error) {
	b, err := readFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read snapshot manifest: %w", err)
	}
	m := new(controlpb.Manifest)
	return m, sealManifest.decode(name, b, m)
}

func readSections(files primitives.Files, path string, m *controlpb.Manifest) (*catalog.State, error) {
	var loader catalog.Loader
	whole := sha256.New()
	for i, section := range m.GetSections() {
		name := path + "/" + sectionName(i)
		b, err := readFile(files, name)
		if missing(err) {
			return nil, &DamageError{File: name, What: "the section is missing"}
		}
		if err != nil {
			return nil, fmt.Errorf("read snapshot section: %w", err)
		}
		if digest := sha256.Sum256(b); uint64(len(b)) != section.GetLength() || string(digest[:]) != string(section.GetSha256()) {
			return nil, &DamageError{File: name, What: "the section does not match the manifest"}
		}
		whole.Write(b)
		if err := loader.Add(b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if string(whole.Sum(nil)) != string(m.GetStateDigest()) {
		return nil, &DamageError{File: path, What: "the state does not match the manifest"}
	}
	return loader.State()
}
