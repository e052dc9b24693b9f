package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/raft/v3"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
)

// Bootstrap says whether a node without stored state may found a cluster.
type Bootstrap string

// The values of Bootstrap.
const (
	BootstrapAuto   Bootstrap = "auto" // unless it is told whom to join
	BootstrapAlways Bootstrap = "always"
	BootstrapNever  Bootstrap = "never"
)

// Settings configure the member that one node is.
type Settings struct {
	Dir       string
	ClusterID string
	NodeID    string

	// Join is whom a node without stored state asks for admission. A node with
	// stored state ignores it here; Peers may use it to find members.
	Join      []string
	Bootstrap Bootstrap
	// Peers reaches the other members; nil is a group of one.
	Peers Peers
	// Endpoints are where this node is reached, as its node record says.
	Endpoints Endpoints

	Heartbeat time.Duration
	Election  time.Duration

	SnapshotEntries uint64
	SnapshotBytes   uint64
	// SectionBytes is how long a section of a snapshot may be.
	SectionBytes int
	// Of the log below a snapshot, this much is kept for slow members: the bound
	// that is reached first counts.
	RetainEntries, RetainBytes uint64
	// LogCap is how many bytes of log there may be before commands wait for
	// reclamation.
	LogCap uint64
	// RetryValidity is how long an outcome is kept after it finished.
	RetryValidity time.Duration

	// Found returns the steps a new cluster begins with. It runs at the first
	// start only, before anything of the cluster is durable.
	Found func(context.Context) ([]*catalogpb.Step, error)
	// Applied is told of every entry this process applies, before anybody can see the
	// state it makes; entry is nil for a snapshot of another member. nil ignores it.
	Applied func(term uint64, entry []byte, state *catalog.State)
	// Synced takes how long each synchronisation of the log took; nil ignores it.
	Synced func(time.Duration)
}

// Defaults returns the settings of the specification.
func Defaults() Settings {
	return Settings{
		ClusterID: "default", NodeID: "node-1", Bootstrap: BootstrapAuto,
		Heartbeat: 250 * time.Millisecond, Election: 1500 * time.Millisecond,
		SnapshotEntries: 10_000, SnapshotBytes: 64 << 20, SectionBytes: sectionBytesMax, RetainEntries: 1000, RetainBytes: 64 << 20, LogCap: 1 << 30,
		RetryValidity: 15 * time.Minute,
	}
}

// Check refuses contradictory settings.
func (s *Settings) Check() error {
	if s.Election <= 2*s.Heartbeat {
		return errors.New("raft-election-timeout must be greater than twice raft-heartbeat-interval")
	}
	if s.SnapshotEntries == 0 || s.SnapshotBytes == 0 {
		return errors.New("raft-snapshot-entries and raft-snapshot-bytes must be greater than zero")
	}
	if s.SectionBytes < 1 || s.SectionBytes > sectionBytesMax {
		return fmt.Errorf("a snapshot section has between 1 and %d bytes, not %d", sectionBytesMax, s.SectionBytes)
	}
	if s.LogCap <= s.RetainBytes {
		return errors.New("raft-log-cap must be greater than raft-retain-bytes")
	}
	switch s.Bootstrap {
	case BootstrapAuto, BootstrapAlways, BootstrapNever:
	default:
		return fmt.Errorf("bootstrap must be auto, always or never, not '%s'", s.Bootstrap)
	}
	if len(s.Join) > 0 && s.Peers == nil {
		return errors.New("joining a cluster needs an interconnect")
	}
	return nil
}

func (s *Settings) raft(id uint64, storage raft.Storage, applied uint64, logger raft.Logger) *raft.Config {
	return &raft.Config{
		ID:                        id,
		Storage:                   storage,
		Applied:                   applied,
		HeartbeatTick:             ticks(s.Heartbeat),
		ElectionTick:              ticks(s.Election),
		PreVote:                   true,
		CheckQuorum:               true,
		StepDownOnRemoval:         true,
		ReadOnlyOption:            raft.ReadOnlySafe,
		AsyncStorageWrites:        true,
		DisableProposalForwarding: true,
		MaxSizePerMsg:             messageBytesMax,
		MaxInflightMsgs:           inflightMessagesMax,
		MaxInflightBytes:          inflightBytesMax,
		MaxUncommittedEntriesSize: uncommittedBytesMax,
		MaxCommittedSizePerReady:  committedBytesMax,
		Logger:                    logger,
	}
}

func ticks(d time.Duration) int { return int(max((d+tickEvery-1)/tickEvery, 1)) }
