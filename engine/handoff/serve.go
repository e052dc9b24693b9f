package handoff

import (
	"context"
	"errors"
	"io/fs"

	"plexus/engine/state"
)

// Serve sends the bytes of a container from an offset: one that was captured here,
// or one that this node keeps as owner or replica. It is the other side of
// [state.Remote].
func (p *Participant) Serve(ctx context.Context, ref state.Ref, offset uint64, send func(chunk []byte) error) (err error) {
	if st := p.captured(ref); st != nil {
		file, err := st.Open()
		if err != nil {
			return err
		}
		return errors.Join(state.Serve(file, ref, offset, send), file.Close())
	}
	component, ok := p.component(ref.Component)
	if !ok {
		return fs.ErrNotExist
	}
	c, err := component.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.Serve(ref, offset, send)
}

// captured finds a staged container.
func (p *Participant) captured(ref state.Ref) (found *state.Staged) {
	p.locked(func() {
		for _, c := range p.captures { //plexus:orderfree equal references have equal bytes
			for _, st := range c.staged {
				if st.Ref == ref {
					found = st
				}
			}
		}
	})
	return found
}
