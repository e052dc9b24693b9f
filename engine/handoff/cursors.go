package handoff

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"plexus/connectors/contract"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Cursors is the component of cursor sources. key names the incarnation of an
// ingestor as the applied schedule has it, false where there is none; its instance
// does not count.
func Cursors(cursors *state.Cursors, key func(domain, ingestor string) (state.Key, bool)) Component {
	snapshot := func(ctx context.Context, domain string, e quiesce.Entity) (*state.Snapshot, error) {
		if e.Kind != vocab.EntityIngestor {
			return nil, nil
		}
		k, ok := key(domain, e.Name)
		if !ok {
			return nil, nil
		}
		states, number, err := cursors.Positions(ctx, k.Domain, k.Ingestor)
		if err != nil || len(states) == 0 {
			return nil, err
		}
		s := &state.Snapshot{Placement: state.Placement{Identity: cursorIdentity(domain, e.Name, k)}, Revision: number}
		for _, instance := range primitives.SortedKeys(states) {
			s.Sections = append(s.Sections, state.Section{Kind: state.SectionBytes, Bytes: encodeCursor(instance, states[instance])})
		}
		return s, nil
	}
	return Component{
		Kind: state.SourceCursor,
		Capture: func(ctx context.Context, domain string, e quiesce.Entity) ([]*state.Snapshot, error) {
			s, err := snapshot(ctx, domain, e)
			if err != nil || s == nil {
				return nil, err
			}
			return []*state.Snapshot{s}, nil
		},
		Restore: func(ctx context.Context, c *state.Container) error {
			k, ok := key(c.Domain, c.Name)
			if !ok || cursorIdentity(c.Domain, c.Name, k) != c.Identity {
				return &state.NotCurrentError{Placement: c.Placement}
			}
			states := map[int]contract.State{}
			for i := range c.Sections() {
				section, err := c.Section(i)
				if err != nil {
					return err
				}
				instance, s, err := decodeCursor(section.Bytes)
				if err != nil {
					return fmt.Errorf("%s: %w", c.Placement, err)
				}
				states[instance] = s
			}
			return cursors.Replace(ctx, k.Domain, k.Ingestor, states)
		},
		Reset: func(ctx context.Context, domain string, e quiesce.Entity) error {
			k, ok := key(domain, e.Name)
			if e.Kind != vocab.EntityIngestor || !ok {
				return nil
			}
			return cursors.Replace(ctx, k.Domain, k.Ingestor, nil)
		},
		Saved: func(ctx context.Context, domain string, e quiesce.Entity) ([]state.Ref, error) {
			s, err := snapshot(ctx, domain, e)
			if err != nil || s == nil {
				return nil, err
			}
			ref, err := s.Ref()
			return []state.Ref{ref}, err
		},
		Open: func(ctx context.Context, ref state.Ref) (*state.Container, error) {
			s, err := snapshot(ctx, ref.Domain, quiesce.Entity{Kind: vocab.EntityIngestor, Name: ref.Name})
			if err != nil {
				return nil, err
			}
			if s == nil || s.Placement != ref.Placement || s.Revision != ref.Revision {
				return nil, &state.ReplacedError{Ref: ref}
			}
			return s.Container()
		},
	}
}

// cursorIdentity tells incarnations apart: positions of a dropped ingestor, or of a
// domain before it was started afresh, are of the past.
func cursorIdentity(domain, ingestor string, k state.Key) state.Identity {
	return state.Identity{
		Domain: domain, Entity: vocab.EntityIngestor.Snake(), Name: ingestor, Component: state.SourceCursor,
		Fingerprint: sha256.Sum256([]byte(k.Domain + "/" + k.Ingestor)),
	}
}

// A cursor section is
//
//	instance:u32le  version:u16le  connectorLength:u16le  connector  bytes
const cursorHeaderBytes = 4 + 2 + 2

func encodeCursor(instance int, s contract.State) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(instance))
	b = binary.LittleEndian.AppendUint16(b, s.Version)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.Connector)))
	b = append(b, s.Connector...)
	return append(b, s.Bytes...)
}

func decodeCursor(b []byte) (instance int, s contract.State, err error) {
	if len(b) < cursorHeaderBytes {
		return 0, s, malformed("cursor")
	}
	length := int(binary.LittleEndian.Uint16(b[6:]))
	if len(b)-cursorHeaderBytes < length {
		return 0, s, malformed("cursor")
	}
	rest := b[cursorHeaderBytes:]
	return int(binary.LittleEndian.Uint32(b)), contract.State{
		Connector: string(rest[:length]), Version: binary.LittleEndian.Uint16(b[4:]), Bytes: rest[length:],
	}, nil
}
