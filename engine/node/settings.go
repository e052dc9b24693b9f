package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plexus/engine/control"
	"plexus/engine/session"
	"plexus/primitives/invariant"
)

// Settings are what a node itself understands. Addresses and logging belong to
// who builds the node.
type Settings struct {
	Control control.Settings
	// InitialPassword is the password of the first user; empty makes a random one
	// and writes it to a file.
	InitialPassword string
	PasswordCost    session.Cost
	DrainTimeout    time.Duration
	ShutdownTimeout time.Duration
	QuiesceTimeout  time.Duration
	// Parallelism is how many tasks the machine runs at once.
	Parallelism int
}

// Flag is one setting by the name that flags, environment and files use.
type Flag struct {
	Name    string
	Default string
	Help    string
	Secret  bool
	set     func(s *Settings, text string) error
}

// flags is every setting in the order of the manual.
var flags = []Flag{
	{Name: "data-dir", Default: "./plexus-data", Help: "directory of everything the node keeps",
		set: text(func(s *Settings) *string { return &s.Control.Dir })},
	{Name: "cluster-id", Default: "default", Help: "name of the cluster", set: name(func(s *Settings) *string { return &s.Control.ClusterID })},
	{Name: "node-id", Default: "node-1", Help: "name of this node", set: name(func(s *Settings) *string { return &s.Control.NodeID })},
	{Name: "init-password", Help: "password of the first user; a random one is written to DATA-DIR/initial-password without it", Secret: true,
		set: text(func(s *Settings) *string { return &s.InitialPassword })},
	{Name: "raft-heartbeat-interval", Default: "250ms", Help: "pause between heartbeats of a leader",
		set: duration(func(s *Settings) *time.Duration { return &s.Control.Heartbeat })},
	{Name: "raft-election-timeout", Default: "1500ms", Help: "silence after which a leader counts as lost",
		set: duration(func(s *Settings) *time.Duration { return &s.Control.Election })},
	{Name: "raft-snapshot-entries", Default: "10000", Help: "log entries between snapshots",
		set: number(func(s *Settings) *uint64 { return &s.Control.SnapshotEntries })},
	{Name: "raft-snapshot-bytes", Default: "64MiB", Help: "log bytes between snapshots",
		set: size(func(s *Settings) *uint64 { return &s.Control.SnapshotBytes })},
	{Name: "raft-retain-entries", Default: "1000", Help: "log entries kept behind a snapshot",
		set: number(func(s *Settings) *uint64 { return &s.Control.RetainEntries })},
	{Name: "command-retry-validity", Default: "15m", Help: "how long the outcome of a command can be asked for again",
		set: duration(func(s *Settings) *time.Duration { return &s.Control.RetryValidity })},
	{Name: "quiesce-timeout", Default: "60s", Help: "time a change waits for the work in its way",
		set: duration(func(s *Settings) *time.Duration { return &s.QuiesceTimeout })},
	{Name: "drain-timeout", Default: "30s", Help: "time a stopping node gives to admitted work",
		set: duration(func(s *Settings) *time.Duration { return &s.DrainTimeout })},
	{Name: "shutdown-timeout", Default: "50s", Help: "time a stop may take as a whole",
		set: duration(func(s *Settings) *time.Duration { return &s.ShutdownTimeout })},
}

// Flags lists the settings in the order of the manual.
func Flags() []Flag { return flags }

// ErrUnknownFlag says that no setting has the name.
var ErrUnknownFlag = errors.New("unknown setting")

// Defaults returns the settings of the specification.
func Defaults() Settings {
	s := Settings{Control: control.Defaults(), PasswordCost: session.DefaultCost, Parallelism: 2}
	for _, f := range flags {
		if f.Default == "" {
			continue
		}
		err := f.set(&s, f.Default)
		invariant.Thatf(err == nil, "default of %s: %v", f.Name, err)
	}
	return s
}

// Set reads one setting from text.
func (s *Settings) Set(flag, text string) error {
	for i := range flags {
		if flags[i].Name == flag {
			if err := flags[i].set(s, text); err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
			return nil
		}
	}
	return fmt.Errorf("%w '%s'", ErrUnknownFlag, flag)
}

// Check refuses settings that contradict each other.
func (s *Settings) Check() error {
	if s.DrainTimeout >= s.ShutdownTimeout {
		return errors.New("drain-timeout must be shorter than shutdown-timeout")
	}
	return s.Control.Check()
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*field(s) = v
		return nil
	}
}

// name takes the names of nodes and clusters: lower-case labels.
func name(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		ok := len(v) >= 1 && len(v) <= 63 && v[0] != '-' && v[len(v)-1] != '-'
		for i := range len(v) {
			c := v[i]
			ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
		}
		if !ok {
			return fmt.Errorf("'%s' must be 1 to 63 of a-z, 0-9 and '-', not beginning or ending with '-'", v)
		}
		*field(s) = v
		return nil
	}
}

func duration(field func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("'%s' is no positive duration such as 250ms or 15m", v)
		}
		*field(s) = d
		return nil
	}
}

func number(field func(*Settings) *uint64) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil || n == 0 {
			return fmt.Errorf("'%s' is no positive number", v)
		}
		*field(s) = n
		return nil
	}
}

var sizeUnits = []struct {
	suffix string
	bytes  uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

func size(field func(*Settings) *uint64) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		for _, unit := range sizeUnits {
			digits, ok := strings.CutSuffix(v, unit.suffix)
			if !ok {
				continue
			}
			n, err := strconv.ParseUint(digits, 10, 64)
			if err != nil || n == 0 || n > 1<<63/unit.bytes {
				break
			}
			*field(s) = n * unit.bytes
			return nil
		}
		return fmt.Errorf("'%s' is no size such as 64MiB", v)
	}
}
