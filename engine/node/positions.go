package node

import (
	"context"
	"fmt"
	"strings"

	"plexus/connectors/contract"
	"plexus/engine/catalog"
	"plexus/engine/control"
	"plexus/engine/host"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// positions keeps the cursor states of sources apart by incarnation: an ingestor
// that was dropped and created again, and a domain that was started afresh, do
// not go on where the old ones stood.
type positions struct {
	group   *control.Group
	cursors *state.Cursors

	lock *primitives.Mutex
	keys map[state.Key]state.Key // of the running incarnations
}

func newPositions(w primitives.World, group *control.Group, cursors *state.Cursors) *positions {
	return &positions{group: group, cursors: cursors, lock: primitives.NewMutex(w), keys: map[state.Key]state.Key{}}
}

// Load finds the state of the incarnation that is being started. Later saves
// belong to it, whatever is committed while it drains.
func (p *positions) Load(ctx context.Context, key state.Key) (contract.State, bool, error) {
	own, err := p.incarnation(key)
	if err != nil {
		return contract.State{}, false, err
	}
	if err := p.lock.Lock(ctx); err != nil {
		return contract.State{}, false, err
	}
	p.keys[key] = own
	p.lock.Unlock()
	return p.cursors.Load(ctx, own)
}

// Save keeps the state of the incarnation that Load began.
func (p *positions) Save(ctx context.Context, key state.Key, s contract.State) error {
	if err := p.lock.Lock(ctx); err != nil {
		return err
	}
	own, ok := p.keys[key]
	p.lock.Unlock()
	if !ok {
		return fmt.Errorf("state of ingestor '%s' was never loaded", key.Ingestor)
	}
	return p.cursors.Save(ctx, own, s)
}

func (p *positions) incarnation(key state.Key) (state.Key, error) {
	committed := p.group.State()
	d, ok := committed.Domain(key.Domain)
	if !ok {
		return key, fmt.Errorf("domain '%s' is gone", key.Domain)
	}
	m, ok := committed.Model(key.Domain, catalog.Key{Kind: vocab.EntityIngestor, Name: key.Ingestor})
	if !ok {
		return key, fmt.Errorf("ingestor '%s' is gone", key.Ingestor)
	}
	key.Domain, key.Ingestor = domainKey(d), ingestorKey(m)
	return key, nil
}

// committed returns the key of the incarnation that the applied state names; its
// instance does not count.
func (p *positions) committed(domain, ingestor string) (state.Key, bool) {
	key, err := p.incarnation(state.Key{Domain: domain, Ingestor: ingestor})
	return key, err == nil
}

// Neither name holds a '/', and a domain name holds no '.', so keys stay apart.
func domainKey(d *catalog.Domain) string { return fmt.Sprintf("%s.%d", d.Name, d.Positions) }

func ingestorKey(m *catalog.Model) string { return fmt.Sprintf("%s.%d", m.Name, m.Revision) }

// sweep forgets the states of incarnations of a domain that execute no longer.
func (p *positions) sweep(ctx context.Context, domain string) error {
	committed := p.group.State()
	current := ""
	kept := map[string]bool{}
	if d, ok := committed.Domain(domain); ok {
		current = domainKey(d)
	}
	for m := range committed.Models(domain) {
		if m.Kind == vocab.EntityIngestor {
			kept[ingestorKey(m)] = true
		}
	}
	keys, err := p.cursors.Domains()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if name, _, _ := strings.Cut(key, "."); name != domain {
			continue
		}
		keep := func(ingestor string) bool { return key == current && kept[ingestor] }
		if err := p.cursors.Sweep(ctx, key, keep); err != nil {
			return err
		}
	}
	return nil
}

var _ host.Cursors = (*positions)(nil)
