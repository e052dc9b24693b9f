package control

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"strings"

	pb "go.etcd.io/raft/v3/raftpb"

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

// generation is a published snapshot as other members learn of it.
type generation struct {
	id       SnapshotID
	conf     *pb.ConfState
	sections int
	manifest []byte // the manifest file
}

// writeSnapshot stores a state under dir, in sections of at most so many bytes, and
// publishes it.
func writeSnapshot(files primitives.Files, dir string, owner walIdentity, id SnapshotID, state *catalog.State, sectionBytes int) (*generation, error) {
	path := dir + "/" + id.dir()
	if err := files.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("create snapshot directory: %w", err)
	}
	conf := confOf(state)
	m := &controlpb.Manifest{
		Format: format, Cluster: owner.Cluster[:], Index: id.Index, Term: id.Term, Voters: conf.Voters, Learners: conf.Learners,
	}
	whole := sha256.New()
	for section, err := range state.Sections(sectionBytes) {
		if err != nil {
			return nil, err
		}
		if err := writeSynced(files, path+"/"+sectionName(len(m.Sections)), section); err != nil {
			return nil, err
		}
		whole.Write(section)
		digest := sha256.Sum256(section)
		m.Sections = append(m.Sections, &controlpb.Section{Length: uint64(len(section)), Sha256: digest[:]})
	}
	m.StateDigest = whole.Sum(nil)
	manifest, err := sealManifest.encode(m)
	if err != nil {
		return nil, err
	}
	if err := replaceFile(files, path, manifestName, manifest); err != nil {
		return nil, err
	}
	if err := files.SyncDir(dir); err != nil {
		return nil, fmt.Errorf("synchronise snapshot directory: %w", err)
	}
	return &generation{id: id, conf: conf, sections: len(m.Sections), manifest: manifest}, nil
}

// loadedSnapshot is the newest published snapshot with its state.
type loadedSnapshot struct {
	generation
	state *catalog.State
}

// loadSnapshot removes what was never published and reads the newest snapshot,
// which is durable from then on.
func loadSnapshot(files primitives.Files, dir string, owner walIdentity) (*loadedSnapshot, error) {
	published, err := sweepSnapshots(files, dir)
	if err != nil {
		return nil, err
	}
	if len(published) == 0 {
		return nil, &DamageError{File: dir, What: "no snapshot is left"}
	}
	newest := published[len(published)-1]
	if err := settleSnapshot(files, dir, newest); err != nil {
		return nil, err
	}
	return readSnapshot(files, dir, owner, newest)
}

// settleSnapshot makes sure that a published snapshot is there after a power loss:
// the process that published it may have ended before it synchronised the names.
func settleSnapshot(files primitives.Files, dir string, id SnapshotID) error {
	for _, d := range []string{dir + "/" + id.dir(), dir} {
		if err := files.SyncDir(d); err != nil {
			return fmt.Errorf("synchronise snapshot %s: %w", id.dir(), err)
		}
	}
	return nil
}

// sweepSnapshots removes unpublished directories and lists the published ones,
// oldest first.
func sweepSnapshots(files primitives.Files, dir string) ([]SnapshotID, error) {
	list, err := files.List(dir)
	if err != nil {
		return nil, unlisted("snapshots", dir, err)
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

// removeSnapshots removes older snapshots than the newest. Another task may have
// published that one a moment ago, so it is made durable first.
func removeSnapshots(files primitives.Files, dir string, newest SnapshotID, ids []SnapshotID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := settleSnapshot(files, dir, newest); err != nil {
		return err
	}
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
	name := path + "/" + manifestName
	b, err := readFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read snapshot manifest: %w", err)
	}
	m, err := decodeManifest(name, b, owner)
	if err != nil {
		return nil, err
	}
	if m.GetIndex() != id.Index || m.GetTerm() != id.Term {
		return nil, &DamageError{File: path, What: "the snapshot was renamed"}
	}
	builder := newBuilder(path, m)
	for i := range m.GetSections() {
		file := path + "/" + sectionName(i)
		section, err := readFile(files, file)
		if missing(err) {
			return nil, &DamageError{File: file, What: "the section is missing"}
		}
		if err != nil {
			return nil, fmt.Errorf("read snapshot section: %w", err)
		}
		if err := builder.add(section); err != nil {
			return nil, err
		}
	}
	state, err := builder.state()
	if err != nil {
		return nil, err
	}
	return &loadedSnapshot{generation: builder.generation(b), state: state}, nil
}

// decodeManifest reads a manifest of this cluster. name is for messages.
func decodeManifest(name string, b []byte, owner walIdentity) (*controlpb.Manifest, error) {
	m := new(controlpb.Manifest)
	if err := sealManifest.decode(name, b, m); err != nil {
		return nil, err
	}
	switch {
	case m.GetFormat() != format:
		return nil, &ForeignError{Dir: name, What: fmt.Sprintf("snapshot format %d, this build reads %d", m.GetFormat(), format)}
	case string(m.GetCluster()) != string(owner.Cluster[:]):
		return nil, &ForeignError{Dir: name, What: "the snapshot belongs to another cluster"}
	case len(m.GetSections()) > sectionsMax:
		return nil, &DamageError{File: name, What: fmt.Sprintf("%d sections, at most %d", len(m.GetSections()), sectionsMax)}
	}
	for i, s := range m.GetSections() {
		if s.GetLength() > sectionBytesMax || len(s.GetSha256()) != sha256.Size {
			return nil, &DamageError{File: name, What: fmt.Sprintf("section %d of %d bytes with a digest of %d", i, s.GetLength(), len(s.GetSha256()))}
		}
	}
	return m, nil
}

// builder makes a state of the sections that a manifest lists, in their order, and
// believes nothing that does not match it.
type builder struct {
	path     string // for messages
	manifest *controlpb.Manifest
	loader   catalog.Loader
	whole    hash.Hash
	next     int
	// unverified is a planted defect.
	unverified bool
}

func newBuilder(path string, m *controlpb.Manifest) *builder {
	return &builder{path: path, manifest: m, whole: sha256.New()}
}

// add takes the next section.
func (b *builder) add(section []byte) error {
	name := b.path + "/" + sectionName(b.next)
	want := b.manifest.GetSections()[b.next]
	b.next++
	if b.unverified {
		// What is left of a damaged section is whatever decodes.
		_ = b.loader.Add(section)
		return nil
	}
	if digest := sha256.Sum256(section); uint64(len(section)) != want.GetLength() || string(digest[:]) != string(want.GetSha256()) {
		return &DamageError{File: name, What: "the section does not match the manifest"}
	}
	b.whole.Write(section)
	if err := b.loader.Add(section); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// state returns the state once every section was added.
func (b *builder) state() (*catalog.State, error) {
	state, err := b.loader.State()
	if b.unverified {
		return state, err
	}
	damaged := func(what string, args ...any) (*catalog.State, error) {
		return nil, &DamageError{File: b.path, What: fmt.Sprintf(what, args...)}
	}
	switch {
	case string(b.whole.Sum(nil)) != string(b.manifest.GetStateDigest()):
		return damaged("the state does not match the manifest")
	case err != nil:
		return nil, err
	case state.Applied != b.manifest.GetIndex():
		return damaged("the snapshot holds the state at index %d", state.Applied)
	case !sameConf(confOf(state), b.conf()):
		return damaged("the configuration is not that of the node records")
	}
	return state, nil
}

func (b *builder) conf() *pb.ConfState {
	return &pb.ConfState{Voters: b.manifest.GetVoters(), Learners: b.manifest.GetLearners()}
}

func (b *builder) generation(file []byte) generation {
	return generation{
		id:   SnapshotID{b.manifest.GetIndex(), b.manifest.GetTerm()},
		conf: b.conf(), sections: len(b.manifest.GetSections()), manifest: file,
	}
}
