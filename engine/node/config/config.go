package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"plexus/engine/control"
	"plexus/engine/node"
	"plexus/primitives/invariant"
)

// Config is the configuration of one node and of the process around it. A listen
// address that is not valid is a listener that is off.
type Config struct {
	Node             node.Settings
	InitPasswordFile string

	ClientListen        netip.AddrPort
	ClientAdvertise     string // URL; derived from the listen address when empty
	ClientInsecure      bool
	HTTPListen          netip.AddrPort
	ObservabilityListen netip.AddrPort

	DNSConfig  string
	DNSHosts   string
	DNSServers []netip.AddrPort

	LogLevel  slog.Level
	LogFormat LogFormat

	// nodeTexts are the values of the node's own settings as they were written.
	nodeTexts map[string]string
}

// LogFormat is the form of log lines.
type LogFormat string

// The values of LogFormat.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Default returns the configuration of a node that is told nothing.
func Default() *Config {
	c := &Config{Node: node.Defaults(), nodeTexts: map[string]string{}}
	for _, s := range settings {
		if s.fallback != "" {
			invariant.That(s.read(c, s.fallback) == nil, "the default of a setting reads")
		}
	}
	return c
}

// ErrContradiction says that two settings do not go together.
var ErrContradiction = errors.New("contradictory settings")

// Check refuses what no single value shows to be wrong.
func (c *Config) Check() error {
	if err := c.Node.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrContradiction, err)
	}
	switch {
	case c.Node.InitialPassword != "" && c.InitPasswordFile != "":
		return fmt.Errorf("%w: --init-password and --init-password-file exclude each other", ErrContradiction)
	case len(c.Node.Control.Join) > 0 && c.Node.Control.Bootstrap == control.BootstrapAlways:
		return fmt.Errorf("%w: --join asks to join a cluster and --bootstrap=always to found one", ErrContradiction)
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
