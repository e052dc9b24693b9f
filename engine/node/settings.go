package node

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/control"
	"plexus/engine/interconnect"
	"plexus/engine/session"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/primitives/invariant"
)

// Settings are what a node itself understands. Addresses and logging belong to
// who builds the node.
type Settings struct {
	Control control.Settings
	// InitialPassword is the password of the first user; empty makes a random one
	// and writes it to a file.
	InitialPassword string
	// Limits bound what clients make the replicated state hold; the leader puts its
	// own in force. TransactionRetention says how long ended transactions are kept.
	Limits               catalog.Limits
	TransactionRetention time.Duration
	PasswordCost         session.Cost
	DrainTimeout         time.Duration
	ShutdownTimeout      time.Duration
	QuiesceTimeout       time.Duration
	GateLease            time.Duration
	// Interconnect is how this node and its peers reach each other.
	Interconnect Interconnect
	// UnavailabilityTimeout is how long a peer may fail its health checks before
	// its work goes to others.
	UnavailabilityTimeout time.Duration
	// ReplicaCount is how many nodes keep the state of an operator beside its owner.
	ReplicaCount int
	Scheduler    Scheduler
	// StagingBytes bounds what transfers keep on disk.
	StagingBytes uint64
	// Parallelism is how many tasks the machine runs at once.
	Parallelism int
}

// Interconnect is where peers reach this node, and how they know each other. Without
// certificates it is plaintext, which only loopback addresses may carry unless
// Insecure allows it.
type Interconnect struct {
	Listen    netip.AddrPort
	Advertise string // host:port; the listen address when empty
	Insecure  bool
	// Files of the authority's certificate and of this node's certificate and key:
	// all or none.
	CA, Certificate, Key string
}

// Advertised is what peers are told to dial.
func (i *Interconnect) Advertised() string {
	if i.Advertise != "" {
		return i.Advertise
	}
	return i.Listen.String()
}

// mesh is what the interconnect is started with.
func (s *Settings) mesh(removed func(raftID uint64) bool) interconnect.Settings {
	i := &s.Interconnect
	m := interconnect.Settings{
		ClusterID: s.Control.ClusterID, Listen: i.Listen, Advertise: i.Advertise, Insecure: i.Insecure,
		UnavailableAfter: s.UnavailabilityTimeout, Removed: removed,
	}
	if i.CA != "" || i.Certificate != "" || i.Key != "" {
		m.TLS = &interconnect.CredentialFiles{CA: i.CA, Certificate: i.Certificate, Key: i.Key}
	}
	return m
}

// Scheduler chooses where operators run.
type Scheduler string

// The schedulers.
const (
	// SchedulerSpread keeps operators near what feeds them and the load even.
	SchedulerSpread Scheduler = "spread"
	// SchedulerRandom places by chance, from a seed, so that tests get graphs that
	// cross nodes.
	SchedulerRandom Scheduler = "random"
)

// Flag is one setting by the name that flags, environment and files use.
type Flag struct {
	Name    string
	Default string
	Help    string
	Secret  bool
	Switch  bool // true or false; the flag alone means true
	set     func(s *Settings, text string) error
}

// flags is every setting in the order of the manual.
var flags = []Flag{
	{Name: "data-dir", Default: "./plexus-data", Help: "directory of everything the node keeps",
		set: text(func(s *Settings) *string { return &s.Control.Dir })},
	{Name: "cluster-id", Default: "default", Help: "name of the cluster", set: name(func(s *Settings) *string { return &s.Control.ClusterID })},
	{Name: "node-id", Default: "node-1", Help: "name of this node", set: name(func(s *Settings) *string { return &s.Control.NodeID })},
	{Name: "join", Help: "interconnect addresses of members, comma-separated; a node without stored state joins their cluster",
		set: list(func(s *Settings) *[]string { return &s.Control.Join })},
	{Name: "bootstrap", Default: "auto", Help: "found a cluster when there is no stored state: auto (unless it joins one), always, never",
		set: choice(func(s *Settings) *control.Bootstrap { return &s.Control.Bootstrap }, control.BootstrapAuto, control.BootstrapAlways, control.BootstrapNever)},
	{Name: "interconnect-listen", Default: "127.0.0.1:47395", Help: "address for the other nodes of the cluster",
		set: address(func(s *Settings) *netip.AddrPort { return &s.Interconnect.Listen })},
	{Name: "interconnect-advertise", Help: "host:port by which the others reach it; the listen address by default",
		set: text(func(s *Settings) *string { return &s.Interconnect.Advertise })},
	{Name: "interconnect-tls-ca", Help: "PEM file of the cluster's certificate authority",
		set: text(func(s *Settings) *string { return &s.Interconnect.CA })},
	{Name: "interconnect-tls-cert", Help: "PEM file of this node's certificate",
		set: text(func(s *Settings) *string { return &s.Interconnect.Certificate })},
	{Name: "interconnect-tls-key", Help: "PEM file of this node's key",
		set: text(func(s *Settings) *string { return &s.Interconnect.Key })},
	{Name: "interconnect-insecure", Default: "false", Switch: true, Help: "allow plaintext between nodes on addresses that are not loopback",
		set: truth(func(s *Settings) *bool { return &s.Interconnect.Insecure })},
	{Name: "node-unavailability-timeout", Default: "10s", Help: "silence after which the work of a node goes to others",
		set: duration(func(s *Settings) *time.Duration { return &s.UnavailabilityTimeout })},
	{Name: "replica-count", Default: "0", Help: "nodes that keep the state of an operator beside its owner",
		set: count(func(s *Settings) *int { return &s.ReplicaCount })},
	{Name: "staging-max-bytes", Default: "128GiB", Help: "disk that transfers of state may use",
		set: size(func(s *Settings) *uint64 { return &s.StagingBytes })},
	{Name: "scheduler", Default: "spread", Help: "where operators run: spread (near what feeds them, load even), random (by chance, for tests)",
		set: choice(func(s *Settings) *Scheduler { return &s.Scheduler }, SchedulerSpread, SchedulerRandom)},
	{Name: "init-password", Help: "password of the first user; a random one is written to DATA-DIR/initial-password without it", Secret: true,
		set: func(s *Settings, v string) error { return s.SetInitialPassword(v) }},
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
	{Name: "raft-retain-bytes", Default: "64MiB", Help: "log bytes kept behind a snapshot; the first bound reached wins",
		set: size(func(s *Settings) *uint64 { return &s.Control.RetainBytes })},
	{Name: "raft-log-cap", Default: "1GiB", Help: "log bytes above which commands wait for reclamation",
		set: size(func(s *Settings) *uint64 { return &s.Control.LogCap })},
	{Name: "command-retry-validity", Default: "15m", Help: "how long the outcome of a command can be asked for again",
		set: duration(func(s *Settings) *time.Duration { return &s.Control.RetryValidity })},
	{Name: "command-history-limit", Default: "65536", Help: "references, outcomes and ended transactions that are kept",
		set: limit(func(s *Settings) *uint32 { return &s.Limits.History })},
	{Name: "transaction-idle-timeout", Default: "15m", Help: "time after which an open transaction without requests expires",
		set: duration(func(s *Settings) *time.Duration { return &s.Limits.TransactionIdle })},
	{Name: "transaction-retention", Default: "15m", Help: "how long a transaction can be described after its end",
		set: duration(func(s *Settings) *time.Duration { return &s.TransactionRetention })},
	{Name: "transaction-max-statements", Default: "256", Help: "statements of one transaction",
		set: limit(func(s *Settings) *uint32 { return &s.Limits.TransactionStatements })},
	{Name: "transaction-max-source", Default: "1MiB", Help: "bytes of the statements of one transaction",
		set: size(func(s *Settings) *uint64 { return &s.Limits.TransactionSource })},
	{Name: "transaction-max-open", Default: "1024", Help: "open transactions of the cluster",
		set: limit(func(s *Settings) *uint32 { return &s.Limits.TransactionOpen })},
	{Name: "quiesce-timeout", Default: "60s", Help: "time a change waits for the work in its way",
		set: duration(func(s *Settings) *time.Duration { return &s.QuiesceTimeout })},
	{Name: "gate-lease", Default: "60s", Help: "time after which a node opens a gate that nobody released",
		set: duration(func(s *Settings) *time.Duration { return &s.GateLease })},
	{Name: "drain-timeout", Default: "30s", Help: "time a stopping node gives to admitted work",
		set: duration(func(s *Settings) *time.Duration { return &s.DrainTimeout })},
	{Name: "shutdown-timeout", Default: "50s", Help: "time a stop may take as a whole",
		set: duration(func(s *Settings) *time.Duration { return &s.ShutdownTimeout })},
}

// nodesMax is the size of the largest cluster.
const nodesMax = 64

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

// SetInitialPassword takes the password of the first user. The error does not hold
// it.
func (s *Settings) SetInitialPassword(password string) error {
	if found := model.CheckPassword(ast.Text{Text: password}); len(found) > 0 {
		return errors.New(found[0].Message)
	}
	s.InitialPassword = password
	return nil
}

// Check refuses settings that contradict each other.
func (s *Settings) Check() error {
	if s.DrainTimeout >= s.ShutdownTimeout {
		return errors.New("drain-timeout must be shorter than shutdown-timeout")
	}
	mesh := s.mesh(nil)
	if err := mesh.Check(); err != nil {
		return err
	}
	plane := s.Control
	plane.Peers = (*consensus)(nil) // Start makes it
	return plane.Check()
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

// list takes values between commas.
func list(field func(*Settings) *[]string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*field(s) = nil
		for part := range strings.SplitSeq(v, ",") {
			part = strings.TrimSpace(part)
			host, port, err := net.SplitHostPort(part)
			if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 || host == "" {
				return fmt.Errorf("'%s' is no host:port", part)
			}
			*field(s) = append(*field(s), part)
		}
		return nil
	}
}

func choice[T ~string](field func(*Settings) *T, allowed ...T) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if !slices.Contains(allowed, T(v)) {
			return fmt.Errorf("'%s' is none of %v", v, allowed)
		}
		*field(s) = T(v)
		return nil
	}
}

func address(field func(*Settings) *netip.AddrPort) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		at, err := netip.ParseAddrPort(v)
		if err != nil {
			return fmt.Errorf("'%s' is no address and port such as 127.0.0.1:47395", v)
		}
		*field(s) = at
		return nil
	}
}

func truth(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if v != "true" && v != "false" {
			return fmt.Errorf("'%s' is neither true nor false", v)
		}
		*field(s) = v == "true"
		return nil
	}
}

func count(field func(*Settings) *int) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > nodesMax {
			return fmt.Errorf("'%s' is no number from 0 to %d", v, nodesMax)
		}
		*field(s) = n
		return nil
	}
}

func limit(field func(*Settings) *uint32) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil || n == 0 {
			return fmt.Errorf("'%s' is no positive number up to %d", v, uint32(math.MaxUint32))
		}
		*field(s) = uint32(n)
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
