package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"
)

// Config is the configuration of one node. A listen address that is not valid
// is a listener that is off.
type Config struct {
	DataDir          string
	NodeID           string
	ClusterID        string
	Bootstrap        Bootstrap
	InitPassword     string
	InitPasswordFile string

	ClientListen        netip.AddrPort
	ClientAdvertise     string // URL; derived from the listen address when empty
	ClientInsecure      bool
	HTTPListen          netip.AddrPort
	ObservabilityListen netip.AddrPort

	RaftHeartbeat        time.Duration
	RaftElection         time.Duration
	RaftSnapshotEntries  uint64
	RaftSnapshotBytes    uint64
	RaftRetainEntries    uint64
	CommandRetryValidity time.Duration

	DrainTimeout    time.Duration
	ShutdownTimeout time.Duration

	DNSConfig  string
	DNSHosts   string
	DNSServers []netip.AddrPort

	LogLevel  slog.Level
	LogFormat LogFormat
}

// Bootstrap says whether a node without stored state founds a cluster.
type Bootstrap string

// The values of Bootstrap.
const (
	BootstrapAuto   Bootstrap = "auto"
	BootstrapAlways Bootstrap = "always"
	BootstrapNever  Bootstrap = "never"
)

// LogFormat is the form of log lines.
type LogFormat string

// The values of LogFormat.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Default returns the configuration of a node that is told nothing.
func Default() *Config {
	c := &Config{}
	for _, s := range settings {
		if err := s.read(c, s.fallback); err != nil {
			panic(fmt.Sprintf("default of --%s: %v", s.name, err)) // the table itself is wrong
		}
	}
	return c
}

// ErrContradiction says that two settings do not go together.
var ErrContradiction = errors.New("contradictory settings")

// Check refuses what no single value shows to be wrong.
func (c *Config) Check() error {
	switch {
	case c.RaftElection <= 2*c.RaftHeartbeat:
		return fmt.Errorf("%w: --raft-election-timeout must be greater than twice --raft-heartbeat-interval", ErrContradiction)
	case c.ShutdownTimeout <= c.DrainTimeout:
		return fmt.Errorf("%w: --shutdown-timeout must be greater than --drain-timeout", ErrContradiction)
	case c.InitPassword != "" && c.InitPasswordFile != "":
		return fmt.Errorf("%w: --init-password and --init-password-file exclude each other", ErrContradiction)
	case c.ClientListen.IsValid() && !c.ClientListen.Addr().IsLoopback() && !c.ClientInsecure:
		return fmt.Errorf("%w: --client-listen %s is no loopback address; plaintext there needs --client-insecure", ErrContradiction, c.ClientListen)
	}
	return nil
}

// ClientURL is what clients are told to reach this node by.
func (c *Config) ClientURL() string {
	if c.ClientAdvertise != "" {
		return c.ClientAdvertise
	}
	return "http://" + c.ClientListen.String()
}
