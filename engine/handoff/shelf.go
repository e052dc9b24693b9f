package handoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"

	"google.golang.org/protobuf/proto"

	"plexus/engine/handoff/handoffpb"
	"plexus/engine/state"
	"plexus/engine/strict"
	"plexus/primitives"
)

// shelf is where a node keeps preparations, a directory each, and marks which
// transitions it activated. It is used by one task at a time.
type shelf struct {
	world        primitives.World
	preparations string
	activated    string
}

// Both are below the data directory. No domain has such a name.
const (
	preparationsDir = "state/@preparations"
	activatedDir    = "state/@activated"
	manifestName    = "manifest"
)

// preparation is one that is complete on disk.
type preparation struct {
	binding Binding
	refs    []state.Ref // of the containers, in order
}

// A sealed file is one message:
//
//	magic[8]  length:u32le  message  SHA-256 of the message
type seal [8]byte

var (
	sealPreparation = seal{'P', 'L', 'X', 'P', 'R', 'E', 'P', 'A'}
	sealActivated   = seal{'P', 'L', 'X', 'A', 'C', 'T', 'I', 'V'}
)

const sealBytes = 8 + 4

// sealedBytesMax bounds what is read of a sealed file.
const sealedBytesMax = 8 << 20

func (s seal) encode(m proto.Message) ([]byte, error) {
	body, err := strict.Encode(m)
	if err != nil {
		return nil, err
	}
	return s.wrap(body), nil
}

func (s seal) wrap(body []byte) []byte {
	b := append([]byte(nil), s[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	sum := sha256.Sum256(body)
	return append(b, sum[:]...)
}

// decode returns a *DamageError for bytes that encode did not make.
func (s seal) decode(name string, b []byte, m proto.Message) error {
	damaged := func(what string) error { return &DamageError{File: name, What: what} }
	switch {
	case len(b) < sealBytes+sha256.Size:
		return damaged("cut off")
	case !bytes.Equal(b[:8], s[:]):
		return damaged("unknown magic")
	case uint64(binary.LittleEndian.Uint32(b[8:])) != uint64(len(b)-sealBytes-sha256.Size):
		return damaged("length")
	}
	body := b[sealBytes : len(b)-sha256.Size]
	if sha256.Sum256(body) != [32]byte(b[len(b)-sha256.Size:]) {
		return damaged("digest")
	}
	if err := strict.Decode(body, m); err != nil {
		return damaged(err.Error())
	}
	return nil
}

// openShelf creates the directories and makes their names durable.
func openShelf(w primitives.World, dataDir string) (*shelf, error) {
	s := &shelf{world: w, preparations: dataDir + "/" + preparationsDir, activated: dataDir + "/" + activatedDir}
	files := w.Files()
	err := errors.Join(files.MkdirAll(s.preparations), files.MkdirAll(s.activated),
		files.SyncDir(path.Dir(s.preparations)), files.SyncDir(dataDir))
	if err != nil {
		return nil, fmt.Errorf("create preparation directories: %w", err)
	}
	return s, nil
}

// load reads what is complete, makes it durable, and removes what is not: an
// earlier process may not have lived to do either.
func (s *shelf) load() (map[primitives.UUID]*preparation, error) {
	files := s.world.Files()
	list, err := files.List(s.preparations)
	if err != nil {
		return nil, fmt.Errorf("list preparations: %w", err)
	}
	complete := map[primitives.UUID]*preparation{}
	for _, entry := range list {
		dir := s.preparations + "/" + entry.Name
		p, err := s.read(dir)
		damage := (*DamageError)(nil)
		switch {
		case errors.As(err, &damage):
			// Nothing can use it; the source still has what was captured.
			s.world.Log().Error("a preparation does not read and is removed", "file", damage.File, "error", err)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read preparation: %w", err)
		case err == nil && hex.EncodeToString(p.binding.Transition[:]) == entry.Name:
			if err := files.SyncDir(dir); err != nil {
				return nil, fmt.Errorf("synchronise preparation: %w", err)
			}
			complete[p.binding.Transition] = p
			continue
		}
		if err := files.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("remove preparation: %w", err)
		}
	}
	if err := files.SyncDir(s.preparations); err != nil {
		return nil, fmt.Errorf("synchronise preparations: %w", err)
	}
	return complete, nil
}

func (s *shelf) read(dir string) (*preparation, error) {
	b, err := readFile(s.world.Files(), dir+"/"+manifestName)
	if err != nil {
		return nil, err
	}
	return decodePreparation(dir+"/"+manifestName, b)
}

func decodePreparation(name string, b []byte) (*preparation, error) {
	m := new(handoffpb.Preparation)
	if err := sealPreparation.decode(name, b, m); err != nil {
		return nil, err
	}
	binding, err := decodeBinding(m.GetBinding())
	if err != nil {
		return nil, &DamageError{File: name, What: err.Error()}
	}
	p := &preparation{binding: binding}
	for _, r := range m.GetRefs() {
		ref, err := state.DecodeRef(r)
		if err != nil {
			return nil, &DamageError{File: name, What: err.Error()}
		}
		p.refs = append(p.refs, ref)
	}
	return p, nil
}

func (p *preparation) encode() ([]byte, error) {
	m := &handoffpb.Preparation{Binding: encodeBinding(&p.binding)}
	for _, r := range p.refs {
		ref, err := r.Encode()
		if err != nil {
			return nil, err
		}
		m.Refs = append(m.Refs, ref)
	}
	return sealPreparation.encode(m)
}

func readFile(files primitives.Files, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	b := make([]byte, min(size, sealedBytesMax))
	n, err := file.ReadAt(b, 0)
	if n == len(b) || errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], errors.Join(err, file.Close())
}

// directory is the place of a preparation.
func (s *shelf) directory(id primitives.UUID) string {
	return s.preparations + "/" + hex.EncodeToString(id[:])
}

// put makes a preparation durable: its containers, then its manifest (H2).
func (s *shelf) put(p *preparation, containers []*state.Staged) error {
	files := s.world.Files()
	dir := s.directory(p.binding.Transition)
	if err := errors.Join(files.RemoveAll(dir), files.MkdirAll(dir)); err != nil {
		return err
	}
	for i, st := range containers {
		if err := st.Keep(containerName(dir, i)); err != nil {
			return err
		}
	}
	if err := files.SyncDir(dir); err != nil {
		return err
	}
	b, err := p.encode()
	if err != nil {
		return err
	}
	if err := replace(files, dir, manifestName, b); err != nil {
		return err
	}
	return files.SyncDir(s.preparations)
}

func containerName(dir string, i int) string { return dir + "/" + strconv.Itoa(i) + ".pxs" }

// replace makes b the content of a file in one step that survives a crash.
func replace(files primitives.Files, dir, name string, b []byte) error {
	next := dir + "/" + name + ".next"
	file, err := files.Create(next, false)
	if err != nil {
		return err
	}
	if _, err := file.Append(b); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := files.Rename(next, dir+"/"+name); err != nil {
		return err
	}
	return files.SyncDir(dir)
}

// remove forgets a preparation durably. The manifest goes first: what is left
// after a crash is incomplete.
func (s *shelf) remove(id primitives.UUID) error {
	files := s.world.Files()
	dir := s.directory(id)
	switch err := files.Remove(dir + "/" + manifestName); {
	case err == nil:
		if err := files.SyncDir(dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return errors.Join(files.RemoveAll(dir), files.SyncDir(s.preparations))
}

// open reads one container of a preparation.
func (s *shelf) open(p *preparation, i int) (*state.Container, error) {
	return state.OpenContainer(s.world.Files(), containerName(s.directory(p.binding.Transition), i))
}

// mark records durably that a transition's state is in place.
func (s *shelf) mark(id primitives.UUID, domain string) error {
	b, err := sealActivated.encode(&handoffpb.Activated{Transition: id[:], Domain: domain})
	if err != nil {
		return err
	}
	return replace(s.world.Files(), s.activated, hex.EncodeToString(id[:]), b)
}

func (s *shelf) unmark(id primitives.UUID) error {
	err := s.world.Files().Remove(s.activated + "/" + hex.EncodeToString(id[:]))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// marks reads which transitions were activated, and of which domain. The name of
// a mark says enough for the one; of a mark that does not read the domain stays
// unknown.
func (s *shelf) marks() (map[primitives.UUID]string, error) {
	files := s.world.Files()
	if err := files.SyncDir(s.activated); err != nil {
		return nil, fmt.Errorf("synchronise marks: %w", err)
	}
	list, err := files.List(s.activated)
	if err != nil {
		return nil, fmt.Errorf("list marks: %w", err)
	}
	marks := map[primitives.UUID]string{}
	for _, entry := range list {
		name := s.activated + "/" + entry.Name
		id, err := hex.DecodeString(entry.Name)
		if err != nil || len(id) != len(primitives.UUID{}) { // a mark that was not finished
			if err := files.Remove(name); err != nil {
				return nil, fmt.Errorf("remove %s: %w", name, err)
			}
			continue
		}
		b, err := readFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		domain, err := decodeMark(name, b)
		if err != nil {
			s.world.Log().Warn("a mark of an activated transition does not read; it counts by its name", "file", name, "error", err)
		}
		marks[primitives.UUID(id)] = domain
	}
	return marks, nil
}

func decodeMark(name string, b []byte) (domain string, err error) {
	m := new(handoffpb.Activated)
	if err := sealActivated.decode(name, b, m); err != nil {
		return "", err
	}
	return m.GetDomain(), nil
}
