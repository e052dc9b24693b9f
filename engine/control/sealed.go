package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"google.golang.org/protobuf/proto"

	"plexus/primitives"
)

// A sealed file is one message with a magic, its length and a checksum:
//
//	magic[8]  length:u32le  crc:u32le  message
//
// It is replaced as a whole, by renaming a synchronised sibling over it.
const sealHeaderBytes = 16

type seal struct{ magic [8]byte }

var (
	sealIdentity = seal{[8]byte{'P', 'L', 'X', 'I', 'D', 'E', 'N', 'T'}}
	sealManifest = seal{[8]byte{'P', 'L', 'X', 'S', 'N', 'A', 'P', 'M'}}
)

func (s seal) encode(m proto.Message) ([]byte, error) {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	b := append([]byte(nil), s.magic[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, castagnoli))
	return append(b, body...), nil
}

// decode returns a *DamageError for bytes that encode did not make.
func (s seal) decode(name string, b []byte, m proto.Message) error {
	damaged := func(what string) error { return &DamageError{File: name, What: what} }
	switch {
	case len(b) < sealHeaderBytes:
		return damaged("cut off")
	case !bytes.Equal(b[:8], s.magic[:]):
		return damaged("unknown magic")
	case uint64(binary.LittleEndian.Uint32(b[8:])) != uint64(len(b)-sealHeaderBytes):
		return damaged("wrong length")
	case binary.LittleEndian.Uint32(b[12:]) != crc32.Checksum(b[sealHeaderBytes:], castagnoli):
		return damaged("checksum")
	}
	if err := proto.Unmarshal(b[sealHeaderBytes:], m); err != nil {
		return damaged(err.Error())
	}
	return nil
}

// write replaces dir/name durably.
func (s seal) write(files primitives.Files, dir, name string, m proto.Message) error {
	b, err := s.encode(m)
	if err != nil {
		return err
	}
	return replaceFile(files, dir, name, b)
}

// replaceFile makes b the content of dir/name in one step that survives a crash.
func replaceFile(files primitives.Files, dir, name string, b []byte) error {
	next := dir + "/" + name + ".next"
	if err := writeSynced(files, next, b); err != nil {
		return err
	}
	if err := files.Rename(next, dir+"/"+name); err != nil {
		return fmt.Errorf("publish %s: %w", name, err)
	}
	if err := files.SyncDir(dir); err != nil {
		return fmt.Errorf("synchronise %s: %w", dir, err)
	}
	return nil
}

// writeSynced creates a file with content b; its name is not durable yet. What has
// the name already is not written to: after a power loss in the middle of a rename
// it may be a second name of the file that was renamed.
func writeSynced(files primitives.Files, name string, b []byte) error {
	if err := files.Remove(name); err != nil && !missing(err) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	file, err := files.Create(name, true)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if _, err := file.Append(b); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), file.Close())
	}
	if err := file.Sync(); err != nil {
		return errors.Join(fmt.Errorf("synchronise %s: %w", name, err), file.Close())
	}
	return file.Close()
}
