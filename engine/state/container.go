package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"plexus/engine/state/statepb"
	"plexus/engine/strict"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// A container is one checkpoint:
//
//	"PXS1"  headerLength:u32le  header  SHA-256 of the header  sections
//
// The header is a statepb.Header; its table gives kind, length and digest of each
// section, in order. There is nothing behind the last section. What differs in any
// byte is refused as a whole.

var containerMagic = [4]byte{'P', 'X', 'S', '1'}

const (
	containerSuffix = ".pxs"
	// SectionBytesMax bounds one section.
	SectionBytesMax = 8 << 20
	headerBytesMax  = 1 << 20
	sectionsMax     = 1 << 14
	// containerBytesMax is what the sections can add up to.
	containerBytesMax = headerBytesMax + sectionsMax*SectionBytesMax
	prefixBytes       = 4 + 4
)

// SectionKind says what a section holds.
type SectionKind uint8

// The kinds of sections.
const (
	SectionBytes   SectionKind = iota + 1 // opaque to everything but its component
	SectionRecords                        // an Arrow IPC stream
	SectionKeys                           // identities of branches or records
)

// Section is a part of a checkpoint.
type Section struct {
	Kind  SectionKind
	Bytes []byte
}

// Header is what a container says about itself.
type Header struct {
	Placement
	Revision    uint64 // only grows within a fence
	Fence       uint64 // only grows: who owned the entity
	Incarnation uint64
	sections    []sectionEntry
}

type sectionEntry struct {
	kind   SectionKind
	length uint64
	digest [32]byte
}

// Snapshot is a state to be written. It is immutable.
type Snapshot struct {
	Placement
	Revision    uint64
	Fence       uint64
	Incarnation uint64
	Sections    []Section
}

// ContainerError says that a container does not read. Nothing of it counts.
type ContainerError struct{ File, What string }

func (e *ContainerError) Error() string {
	return fmt.Sprintf("checkpoint %s is damaged: %s", e.File, e.What)
}

// encodeHeader returns everything before the sections.
func (s *Snapshot) encodeHeader() ([]byte, error) {
	m := &statepb.Header{Placement: encodePlacement(s.Placement), Revision: s.Revision, Fence: s.Fence, Incarnation: s.Incarnation}
	for _, section := range s.Sections {
		if len(section.Bytes) > SectionBytesMax {
			return nil, fmt.Errorf("checkpoint of %s: a section has %d bytes, at most %d are allowed", s.Placement, len(section.Bytes), SectionBytesMax)
		}
		digest := sha256.Sum256(section.Bytes)
		m.Sections = append(m.Sections, &statepb.Section{Kind: uint32(section.Kind), Length: uint64(len(section.Bytes)), Sha256: digest[:]})
	}
	header, err := strict.Encode(m)
	if err != nil {
		return nil, err
	}
	if len(header) > headerBytesMax || len(m.Sections) > sectionsMax {
		return nil, fmt.Errorf("checkpoint of %s: %d sections are too many", s.Placement, len(m.Sections))
	}
	b := append([]byte(nil), containerMagic[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = append(b, header...)
	digest := sha256.Sum256(header)
	return append(b, digest[:]...), nil
}

// write appends the container to an empty file and returns what names it. The
// file is not synchronised.
func (s *Snapshot) write(file primitives.File) (Ref, error) {
	header, err := s.encodeHeader()
	if err != nil {
		return Ref{}, err
	}
	ref := Ref{Placement: s.Placement, Revision: s.Revision, Fence: s.Fence}
	whole := sha256.New()
	add := func(b []byte) error {
		if _, err := file.Append(b); err != nil {
			return err
		}
		whole.Write(b)
		ref.Length += uint64(len(b))
		return nil
	}
	if err := add(header); err != nil {
		return Ref{}, err
	}
	for _, section := range s.Sections {
		if err := add(section.Bytes); err != nil {
			return Ref{}, err
		}
	}
	ref.Digest = [32]byte(whole.Sum(nil))
	return ref, nil
}

// Ref names the bytes that the snapshot has as a container.
func (s *Snapshot) Ref() (Ref, error) {
	header, err := s.encodeHeader()
	if err != nil {
		return Ref{}, err
	}
	ref := Ref{Placement: s.Placement, Revision: s.Revision, Fence: s.Fence, Length: uint64(len(header))}
	whole := sha256.New()
	whole.Write(header)
	for _, section := range s.Sections {
		whole.Write(section.Bytes)
		ref.Length += uint64(len(section.Bytes))
	}
	ref.Digest = [32]byte(whole.Sum(nil))
	return ref, nil
}

// Container returns the snapshot as a container in memory.
func (s *Snapshot) Container() (*Container, error) {
	b, err := s.encodeHeader()
	if err != nil {
		return nil, err
	}
	for _, section := range s.Sections {
		b = append(b, section.Bytes...)
	}
	return openContainer(memory(b), s.Placement.String())
}

// memory is bytes as a file that is only read.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }
func (m memory) Size() (int64, error)                    { return int64(len(m)), nil }
func (m memory) Close() error                            { return nil }

// source is what a container reads.
type source interface {
	io.ReaderAt
	Size() (int64, error)
	Close() error
}

// Container is an open checkpoint whose header was verified.
type Container struct {
	Header
	file   source
	name   string
	offset int64 // of the first section
	length int64
}

// OpenContainer opens a file as a container; see [Container.Verify] for all of it.
func OpenContainer(files primitives.Files, name string) (*Container, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return openContainer(file, name)
}

// openContainer verifies the header of a file and that the file has exactly the
// sections it names. The container owns the file.
func openContainer(file source, name string) (*Container, error) {
	c, err := readHeader(file, name)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, nil
}

func readHeader(file source, name string) (*Container, error) {
	damaged := func(what string) error { return &ContainerError{File: name, What: what} }
	size, err := file.Size()
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	var prefix [prefixBytes]byte
	if size < prefixBytes+sha256.Size {
		return nil, damaged("cut off")
	}
	if err := readFull(file, prefix[:], 0); err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	if !bytes.Equal(prefix[:4], containerMagic[:]) {
		return nil, damaged("unknown magic")
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	if length > headerBytesMax || prefixBytes+length+sha256.Size > size {
		return nil, damaged("header length")
	}
	b := make([]byte, length+sha256.Size)
	if err := readFull(file, b, prefixBytes); err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	if sha256.Sum256(b[:length]) != [32]byte(b[length:]) {
		return nil, damaged("header digest")
	}
	h, total, err := decodeHeader(b[:length])
	if err != nil {
		return nil, damaged(err.Error())
	}
	c := &Container{Header: h, file: file, name: name, offset: prefixBytes + length + sha256.Size, length: size}
	if c.offset+total != size {
		return nil, damaged("length")
	}
	return c, nil
}

func decodeHeader(b []byte) (h Header, total int64, err error) {
	m := new(statepb.Header)
	if err := strict.Decode(b, m); err != nil {
		return Header{}, 0, err
	}
	if h.Placement, err = decodePlacement(m.GetPlacement()); err != nil {
		return Header{}, 0, err
	}
	h.Revision, h.Fence, h.Incarnation = m.GetRevision(), m.GetFence(), m.GetIncarnation()
	if len(m.GetSections()) > sectionsMax {
		return Header{}, 0, fmt.Errorf("%w: %d sections", strict.ErrFormat, len(m.GetSections()))
	}
	for _, s := range m.GetSections() {
		kind := SectionKind(s.GetKind())
		if uint32(kind) != s.GetKind() || kind < SectionBytes || kind > SectionKeys {
			return Header{}, 0, fmt.Errorf("%w: unknown section kind %d", strict.ErrFormat, s.GetKind())
		}
		if s.GetLength() > SectionBytesMax {
			return Header{}, 0, fmt.Errorf("%w: section of %d bytes", strict.ErrFormat, s.GetLength())
		}
		digest, err := strict.Fixed[[32]byte]("section digest", s.GetSha256())
		if err != nil {
			return Header{}, 0, err
		}
		h.sections = append(h.sections, sectionEntry{kind, s.GetLength(), digest})
		total += int64(s.GetLength())
	}
	return h, total, nil
}

func readFull(file io.ReaderAt, b []byte, at int64) error {
	n, err := file.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Sections is the number of sections.
func (c *Container) Sections() int { return len(c.sections) }

// Section reads and verifies one section.
func (c *Container) Section(i int) (Section, error) {
	s, at := c.sections[i], c.offset
	for _, before := range c.sections[:i] {
		at += int64(before.length)
	}
	b := make([]byte, s.length)
	if err := readFull(c.file, b, at); err != nil {
		return Section{}, fmt.Errorf("read checkpoint %s: %w", c.name, err)
	}
	if sha256.Sum256(b) != s.digest && !planted.Active(planted.InstallUnverified) {
		return Section{}, &ContainerError{File: c.name, What: fmt.Sprintf("digest of section %d", i)}
	}
	return Section{s.kind, b}, nil
}

// Snapshot reads and verifies everything.
func (c *Container) Snapshot() (*Snapshot, error) {
	s := &Snapshot{Placement: c.Placement, Revision: c.Revision, Fence: c.Fence, Incarnation: c.Incarnation}
	for i := range c.sections {
		section, err := c.Section(i)
		if err != nil {
			return nil, err
		}
		s.Sections = append(s.Sections, section)
	}
	return s, nil
}

// Verify checks every byte and returns what names the container.
func (c *Container) Verify() (Ref, error) {
	head := make([]byte, c.offset)
	if err := readFull(c.file, head, 0); err != nil {
		return Ref{}, fmt.Errorf("read checkpoint %s: %w", c.name, err)
	}
	whole := sha256.New()
	whole.Write(head)
	for i := range c.sections {
		section, err := c.Section(i)
		if err != nil {
			return Ref{}, err
		}
		whole.Write(section.Bytes)
	}
	return Ref{Placement: c.Placement, Revision: c.Revision, Fence: c.Fence, Length: uint64(c.length), Digest: [32]byte(whole.Sum(nil))}, nil
}

// pass hands over all bytes of the container, piece by piece.
func (c *Container) pass(f func(b []byte) error) error {
	if err := passFile(c.file, c.length, f); err != nil {
		return fmt.Errorf("read checkpoint %s: %w", c.name, err)
	}
	return nil
}

// copy writes the container to a new durable file and verifies that: its source
// may be removed then.
func (c *Container) copy(files primitives.Files, to string, ref Ref) error {
	file, err := files.Create(to, false)
	if err != nil {
		return err
	}
	err = c.pass(func(b []byte) error {
		_, err := file.Append(b)
		return err
	})
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	made, err := OpenContainer(files, to)
	if err != nil {
		return err
	}
	got, err := made.Verify()
	if err == nil && got != ref {
		err = &ContainerError{File: to, What: "the copy differs"}
	}
	return errors.Join(err, made.Close())
}

// Serve sends the bytes of the container from an offset, if it is the one that
// the reference names; the receiver checks every byte.
func (c *Container) Serve(ref Ref, offset uint64, send func(chunk []byte) error) error {
	if c.Placement != ref.Placement || c.Revision != ref.Revision || c.Fence != ref.Fence || uint64(c.length) != ref.Length {
		return &ReplacedError{ref}
	}
	return Serve(c.file, ref, offset, send)
}

// Close gives the file back.
func (c *Container) Close() error { return c.file.Close() }

// passBytes is how much of a file is in memory while it is passed on.
const passBytes = 256 << 10

func passFile(file io.ReaderAt, length int64, f func(b []byte) error) error {
	b := make([]byte, min(length, passBytes))
	for at := int64(0); at < length; at += int64(len(b)) {
		b = b[:min(int64(len(b)), length-at)]
		if err := readFull(file, b, at); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}
