package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"plexus/engine/node"
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

// settings is every setting, in the order of the help: those the node itself
// understands, then those of the process around it.
var settings = append(nodeSettings(), []setting{
	text("init-password-file", "", "file that holds the password of the first user", func(c *Config) *string { return &c.InitPasswordFile }),

	address("client-listen", "127.0.0.1:47391", "address of the session protocol", func(c *Config) *netip.AddrPort { return &c.ClientListen }),
	advertised("client-advertise", "URL by which clients reach the session protocol", func(c *Config) *string { return &c.ClientAdvertise }),
	toggle("client-insecure", "allow the session protocol without TLS on an address that is not loopback", func(c *Config) *bool { return &c.ClientInsecure }),
	address("http-listen", "127.0.0.1:8080", "address of HTTP endpoints, or off", func(c *Config) *netip.AddrPort { return &c.HTTPListen }),
	address("observability-listen", "127.0.0.1:9090", "address of health and metrics, or off", func(c *Config) *netip.AddrPort { return &c.ObservabilityListen }),

	text("dns-config", "/etc/resolv.conf", "file that configures name resolution", func(c *Config) *string { return &c.DNSConfig }),
	text("dns-hosts", "/etc/hosts", "file of fixed names", func(c *Config) *string { return &c.DNSHosts }),
	addresses("dns-server", "name servers that replace those of the file, comma-separated", func(c *Config) *[]netip.AddrPort { return &c.DNSServers }),

	level("log-level", "info", "lowest level that is logged: debug, info, warn, error", func(c *Config) *slog.Level { return &c.LogLevel }),
	choice("log-format", "text", "form of log lines: text, json", func(c *Config) *LogFormat { return &c.LogFormat }, LogText, LogJSON),
}...)

// nodeSettings are the rows of the node's own table.
func nodeSettings() []setting {
	var rows []setting
	for _, f := range node.Flags() {
		rows = append(rows, setting{
			name: f.Name, fallback: f.Default, help: f.Help, secret: f.Secret, boolean: f.Switch,
			read: func(c *Config, text string) error {
				if err := c.Node.Set(f.Name, text); err != nil {
					return errors.Unwrap(err) // without the name, which the place holds
				}
				c.nodeTexts[f.Name] = text
				return nil
			},
			text: func(c *Config) string { return c.nodeTexts[f.Name] },
		})
	}
	return rows
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
			if strings.HasPrefix(text, ":") {
				text = "0.0.0.0" + text // every address of this machine
			}
			addr, err := netip.ParseAddrPort(text)
			if err != nil {
				return expected(text, "an address and port such as 127.0.0.1:8080, :8080 for every address, or off")
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
