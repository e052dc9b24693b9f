package config

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// setting is one row of the table.
type setting struct {
	name, fallback, help string
	// secret values are never shown.
	secret bool
	// flag alone means true.
	boolean bool
	read    func(c *Config, text string) error
	text    func(c *Config) string
}

// settings is every setting, in the order of the help.
var settings = []setting{
	text("data-dir", "./plexus-data", "directory of everything the node keeps", func(c *Config) *string { return &c.DataDir }),
	text("node-id", "node-1", "name of this node in its cluster", func(c *Config) *string { return &c.NodeID }),
	text("cluster-id", "default", "name of the cluster", func(c *Config) *string { return &c.ClusterID }),
	choice("bootstrap", "auto", "whether an empty data directory founds a cluster: auto, always, never",
		func(c *Config) *Bootstrap { return &c.Bootstrap }, BootstrapAuto, BootstrapAlways, BootstrapNever),
	secret(text("init-password", "", "password of the first user", func(c *Config) *string { return &c.InitPassword })),
	text("init-password-file", "", "file that holds the password of the first user", func(c *Config) *string { return &c.InitPasswordFile }),

	address("client-listen", "127.0.0.1:47391", "address of the session protocol", func(c *Config) *netip.AddrPort { return &c.ClientListen }),
	advertised("client-advertise", "URL by which clients reach the session protocol", func(c *Config) *string { return &c.ClientAdvertise }),
	toggle("client-insecure", "allow the session protocol without TLS on an address that is not loopback", func(c *Config) *bool { return &c.ClientInsecure }),
	address("http-listen", "127.0.0.1:8080", "address of HTTP endpoints, or off", func(c *Config) *netip.AddrPort { return &c.HTTPListen }),
	address("observability-listen", "127.0.0.1:9090", "address of health and metrics, or off", func(c *Config) *netip.AddrPort { return &c.ObservabilityListen }),

	duration("raft-heartbeat-interval", "250ms", "time between two heartbeats of a leader", func(c *Config) *time.Duration { return &c.RaftHeartbeat }),
	duration("raft-election-timeout", "1500ms", "silence after which a leader is replaced", func(c *Config) *time.Duration { return &c.RaftElection }),
	count("raft-snapshot-entries", "10000", "log entries between two snapshots", func(c *Config) *uint64 { return &c.RaftSnapshotEntries }),
	size("raft-snapshot-bytes", "64MiB", "log bytes between two snapshots", func(c *Config) *uint64 { return &c.RaftSnapshotBytes }),
	count("raft-retain-entries", "1000", "log entries kept behind a snapshot", func(c *Config) *uint64 { return &c.RaftRetainEntries }),
	duration("command-retry-validity", "15m", "how long the outcome of a command can be asked for", func(c *Config) *time.Duration { return &c.CommandRetryValidity }),

	duration("drain-timeout", "30s", "time for work in flight when the node stops", func(c *Config) *time.Duration { return &c.DrainTimeout }),
	duration("shutdown-timeout", "50s", "time for the whole stop", func(c *Config) *time.Duration { return &c.ShutdownTimeout }),

	text("dns-config", "/etc/resolv.conf", "file that configures name resolution", func(c *Config) *string { return &c.DNSConfig }),
	text("dns-hosts", "/etc/hosts", "file of fixed names", func(c *Config) *string { return &c.DNSHosts }),
	addresses("dns-server", "name servers that replace those of the file, comma-separated", func(c *Config) *[]netip.AddrPort { return &c.DNSServers }),

	level("log-level", "info", "lowest level that is logged: debug, info, warn, error", func(c *Config) *slog.Level { return &c.LogLevel }),
	choice("log-format", "text", "form of log lines: text, json", func(c *Config) *LogFormat { return &c.LogFormat }, LogText, LogJSON),
}

func find(name string) *setting {
	for i := range settings {
		if settings[i].name == name {
			return &settings[i]
		}
	}
	return nil
}

func text(name, fallback, help string, at func(*Config) *string) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error { *at(c) = text; return nil },
		text: func(c *Config) string { return *at(c) },
	}
}

func secret(s setting) setting {
	s.secret = true
	return s
}

func choice[T ~string](name, fallback, help string, at func(*Config) *T, allowed ...T) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			var names []string
			for _, one := range allowed {
				if string(one) == text {
					*at(c) = one
					return nil
				}
				names = append(names, string(one))
			}
			return expected(text, strings.Join(names, ", "))
		},
		text: func(c *Config) string { return string(*at(c)) },
	}
}

func toggle(name, help string, at func(*Config) *bool) setting {
	return setting{
		name: name, fallback: "false", help: help, boolean: true,
		read: func(c *Config, text string) error {
			switch text {
			case "true":
				*at(c) = true
			case "false":
				*at(c) = false
			default:
				return expected(text, "true or false")
			}
			return nil
		},
		text: func(c *Config) string { return strconv.FormatBool(*at(c)) },
	}
}

const off = "off"

func address(name, fallback, help string, at func(*Config) *netip.AddrPort) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			if text == off {
				*at(c) = netip.AddrPort{}
				return nil
			}
			addr, err := netip.ParseAddrPort(text)
			if err != nil {
				return expected(text, "an address and port such as 127.0.0.1:8080, or off")
			}
			*at(c) = addr
			return nil
		},
		text: func(c *Config) string {
			if !at(c).IsValid() {
				return off
			}
			return at(c).String()
		},
	}
}

func addresses(name, help string, at func(*Config) *[]netip.AddrPort) setting {
	return setting{
		name: name, help: help,
		read: func(c *Config, text string) error {
			var all []netip.AddrPort
			for one := range strings.SplitSeq(text, ",") {
				if text == "" {
					break
				}
				addr, err := netip.ParseAddrPort(one)
				if err != nil {
					return expected(text, "addresses and ports such as 10.0.0.53:53")
				}
				all = append(all, addr)
			}
			*at(c) = all
			return nil
		},
		text: func(c *Config) string {
			var texts []string
			for _, addr := range *at(c) {
				texts = append(texts, addr.String())
			}
			return strings.Join(texts, ",")
		},
	}
}

func advertised(name, help string, at func(*Config) *string) setting {
	s := text(name, "", help, at)
	s.read = func(c *Config, text string) error {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Scheme != "http" || u.Host == "") {
			return expected(text, "a URL such as http://node-1.example.net:47391")
		}
		*at(c) = text
		return nil
	}
	return s
}

func duration(name, fallback, help string, at func(*Config) *time.Duration) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 {
				return expected(text, "a duration such as 250ms or 15m")
			}
			*at(c) = d
			return nil
		},
		text: func(c *Config) string { return at(c).String() },
	}
}

func count(name, fallback, help string, at func(*Config) *uint64) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil || n == 0 {
				return expected(text, "a number greater than zero")
			}
			*at(c) = n
			return nil
		},
		text: func(c *Config) string { return strconv.FormatUint(*at(c), 10) },
	}
}

var sizeUnits = [...]struct {
	name  string
	bytes uint64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

func size(name, fallback, help string, at func(*Config) *uint64) setting {
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			bytes, ok := parseSize(text)
			if !ok {
				return expected(text, "a size such as 64MiB")
			}
			*at(c) = bytes
			return nil
		},
		text: func(c *Config) string { return formatSize(*at(c)) },
	}
}

// parseSize reads a whole number and a unit; zero and what does not fit are
// refused.
func parseSize(text string) (uint64, bool) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || n == 0 || n > math.MaxUint64/unit.bytes {
			return 0, false
		}
		return n * unit.bytes, true
	}
	return 0, false
}

// formatSize writes the largest unit that divides the size.
func formatSize(bytes uint64) string {
	for _, unit := range sizeUnits {
		if bytes >= unit.bytes && bytes%unit.bytes == 0 {
			return strconv.FormatUint(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatUint(bytes, 10) + "B"
}

func level(name, fallback, help string, at func(*Config) *slog.Level) setting {
	levels := [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}
	return setting{
		name: name, fallback: fallback, help: help,
		read: func(c *Config, text string) error {
			for _, one := range levels {
				if strings.ToLower(one.String()) == text {
					*at(c) = one
					return nil
				}
			}
			return expected(text, "debug, info, warn or error")
		},
		text: func(c *Config) string { return strings.ToLower(at(c).String()) },
	}
}

// expected says what a value should have been.
func expected(text, what string) error { return fmt.Errorf("%q is not %s", text, what) }
