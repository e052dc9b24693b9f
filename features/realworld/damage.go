package realworld

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/proto"

	"plexus/engine/control/controlpb"
	"plexus/features/harness"
)

// DamageStorage implements harness.Node.
func (n *node) DamageStorage(_ context.Context, damage harness.StorageDamage) error {
	if n.Running() {
		return fmt.Errorf("%s runs", n.name)
	}
	if damage == harness.LaterVersion {
		return rewrite(filepath.Join(n.dataDir(), "identity"), laterIdentity)
	}
	segment, err := n.newestSegment()
	if err != nil {
		return err
	}
	return rewrite(segment, func(content []byte) ([]byte, error) {
		switch damage {
		case harness.TornLog:
			return append(content, tornRecord...), nil
		case harness.FlippedLog:
			content[len(content)/2] ^= 0x10
			return content, nil
		}
		return nil, fmt.Errorf("no way to do %s", damage)
	})
}

// tornRecord claims a length that the file does not hold.
var tornRecord = []byte{0x40, 0x01, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef, 0x01, 0x02, 0x03}

func rewrite(file string, change func([]byte) ([]byte, error)) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if content, err = change(content); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

func (n *node) newestSegment() (string, error) {
	var segments []string
	err := filepath.WalkDir(n.dataDir(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".wal" {
			segments = append(segments, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if len(segments) == 0 {
		return "", fmt.Errorf("no consensus log below %s", n.dataDir())
	}
	return slices.Max(segments), nil
}

// laterIdentity raises the format number in a sealed identity: a header of magic,
// length and checksum, then the message.
func laterIdentity(content []byte) ([]byte, error) {
	const header, length, checksum = 16, 8, 12
	if len(content) < header {
		return nil, fmt.Errorf("an identity of %d bytes", len(content))
	}
	id := &controlpb.Identity{}
	if err := proto.Unmarshal(content[header:], id); err != nil {
		return nil, err
	}
	id.Format++
	body, err := proto.Marshal(id)
	if err != nil {
		return nil, err
	}
	content = append(content[:header:header], body...)
	binary.LittleEndian.PutUint32(content[length:], uint32(len(body)))
	binary.LittleEndian.PutUint32(content[checksum:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return content, nil
}
