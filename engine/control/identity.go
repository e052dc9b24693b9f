package control

import (
	"fmt"

	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

const (
	identityName = "identity"
	lockName     = "LOCK"
	logDir       = "consensus/wal"
	snapshotDir  = "consensus/snap"
	stagingDir   = "consensus/staging" // snapshots of other members before they count
)

// Identity is who this node is.
type Identity struct {
	ClusterID string
	Cluster   primitives.UUID
	NodeID    string
	RaftID    uint64
	// Counter is the number of this start: with the raft id it is the
	// incarnation.
	Counter uint64
}

func identityOf(id *controlpb.Identity) *Identity {
	i := &Identity{ClusterID: id.GetClusterId(), NodeID: id.GetNodeId(), RaftID: id.GetRaftId(), Counter: id.GetCounter()}
	copy(i.Cluster[:], id.GetCluster())
	return i
}

func (i Identity) wal() walIdentity { return walIdentity{Cluster: i.Cluster, RaftID: i.RaftID} }

// directory is a locked data directory.
type directory struct {
	files primitives.Files
	path  string
	lock  primitives.Lock
}

// openDirectory creates the data directory if need be and takes its lock.
func openDirectory(files primitives.Files, name string) (*directory, error) {
	if err := primitives.MakeDirectory(files, name); err != nil {
		return nil, fmt.Errorf("create data directory %s: %w", name, err)
	}
	lock, err := files.Lock(name + "/" + lockName)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", name, err)
	}
	return &directory{files: files, path: name, lock: lock}, nil
}

func (d *directory) sub(name string) string { return d.path + "/" + name }

// identify reads the identity, nil for a directory that has none.
func (d *directory) identify() (*controlpb.Identity, error) {
	b, err := readFile(d.files, d.sub(identityName))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	id := new(controlpb.Identity)
	if err := sealIdentity.decode(d.sub(identityName), b, id); err != nil {
		return nil, err
	}
	if member := len(id.GetCluster()) == len(primitives.UUID{}); member != (id.GetRaftId() != 0) || len(id.GetToken()) != tokenBytes {
		return nil, &DamageError{File: d.sub(identityName), What: "neither a member nor a node that joins"}
	}
	for _, token := range id.GetAdmitted() {
		if len(token) != tokenBytes {
			return nil, &DamageError{File: d.sub(identityName), What: fmt.Sprintf("a token of %d bytes", len(token))}
		}
	}
	return id, nil
}

// check refuses a directory of another cluster, node or format.
func (d *directory) check(id *controlpb.Identity, s *Settings) error {
	foreign := func(text string, args ...any) error {
		return &ForeignError{Dir: d.path, What: fmt.Sprintf(text, args...)}
	}
	switch {
	case id.GetFormat() > format:
		return foreign("format %d is newer than this build's %d", id.GetFormat(), format)
	case id.GetFormat() != format:
		return foreign("format %d, this build reads %d", id.GetFormat(), format)
	case id.GetClusterId() != s.ClusterID:
		return foreign("node belongs to cluster '%s', not '%s'", id.GetClusterId(), s.ClusterID)
	case id.GetNodeId() != s.NodeID:
		return foreign("it belongs to node '%s', not '%s'", id.GetNodeId(), s.NodeID)
	}
	return nil
}

func (d *directory) store(id *controlpb.Identity) error {
	return sealIdentity.write(d.files, d.path, identityName, id)
}

func (d *directory) has(name string) (bool, error) {
	switch _, err := d.files.List(d.sub(name)); {
	case err == nil:
		return true, nil
	case missing(err):
		return false, nil
	default:
		return false, fmt.Errorf("look for %s: %w", name, err)
	}
}
