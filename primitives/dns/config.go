package dns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"plexus/primitives"
)

// Options name what a node reads its resolver configuration from.
type Options struct {
	ConfigFile string
	HostsFile  string
	// Servers, if any, replace the name servers of the configuration file.
	Servers []netip.AddrPort
	// HostName is the machine's own name; its domain completes names when the
	// file has no search list.
	HostName string
}

// Config is what a resolver goes by.
type Config struct {
	Servers []netip.AddrPort
	// Search holds domains without a final dot.
	Search   []string
	Ndots    int
	Timeout  time.Duration // of one try
	Attempts int           // rounds through the servers
	EDNS0    bool
	// Hosts holds the addresses of lower-case names, IPv4 first.
	Hosts map[string][]netip.Addr
}

// DefaultConfig is the configuration of an empty file.
func DefaultConfig() Config {
	return Config{Ndots: 1, Timeout: 5 * time.Second, Attempts: 2}
}

// Load reads configuration and hosts once. Lines that cannot be read are skipped
// with a warning. Every error is ErrUnusable.
func Load(ctx context.Context, w primitives.World, options Options) (Config, error) {
	c, err := load(ctx, w, options)
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return c, nil
}

func load(ctx context.Context, w primitives.World, options Options) (Config, error) {
	c := DefaultConfig()
	text, err := readFile(ctx, w.Files(), options.ConfigFile)
	if err != nil {
		return c, err
	}
	hosts, err := readFile(ctx, w.Files(), options.HostsFile)
	if err != nil {
		return c, err
	}
	skipped := func(file string) func(line int, reason string) {
		return func(line int, reason string) {
			w.Log().Warn("resolver configuration line skipped", "file", file, "line", line, "reason", reason)
		}
	}
	if _, domain, ok := strings.Cut(options.HostName, "."); ok && domain != "" {
		c.Search = []string{domain}
	}
	c.parse(text, skipped(options.ConfigFile))
	c.Hosts = parseHosts(hosts, skipped(options.HostsFile))
	if len(options.Servers) > 0 {
		c.Servers = slices.Clone(options.Servers)
	}
	if len(c.Servers) == 0 {
		return c, ErrNoServer
	}
	for i, domain := range c.Search {
		domain = strings.TrimSuffix(domain, ".")
		if domain != "" && !validName(domain) {
			return c, fmt.Errorf("%w: %q", ErrSearchDomain, domain)
		}
		c.Search[i] = domain
	}
	// The root completes a name to itself, which is asked anyway.
	c.Search = slices.DeleteFunc(c.Search, func(domain string) bool { return domain == "" })
	return c, nil
}

// parse reads the lines of a resolv.conf.
func (c *Config) parse(text string, skipped func(line int, reason string)) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch arguments := fields[1:]; fields[0] {
		case "nameserver":
			if len(arguments) == 0 {
				skipped(number, "address missing")
				continue
			}
			addr, err := netip.ParseAddr(arguments[0])
			if err != nil {
				skipped(number, "not an address")
				continue
			}
			c.Servers = append(c.Servers, netip.AddrPortFrom(addr, serverPort))
		case "domain", "search":
			if len(arguments) == 0 {
				skipped(number, "domain missing")
				continue
			}
			if fields[0] == "domain" {
				arguments = arguments[:1]
			}
			c.Search = slices.Clone(arguments)
		case "options":
			for _, option := range arguments {
				if err := c.option(option); err != nil {
					skipped(number, err.Error())
				}
			}
		}
	}
}

// option applies one word of an options line; unknown ones have no effect.
func (c *Config) option(word string) error {
	name, text, _ := strings.Cut(word, ":")
	if name == "edns0" {
		c.EDNS0 = true
		return nil
	}
	if name != "ndots" && name != "timeout" && name != "attempts" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("option %s without a whole number", name)
	}
	switch name {
	case "ndots":
		c.Ndots = min(n, ndotsMax)
	case "timeout":
		c.Timeout = min(time.Duration(max(n, 1))*time.Second, timeoutMax)
	case "attempts":
		c.Attempts = min(max(n, 1), attemptsMax)
	}
	return nil
}

// parseHosts reads the lines of a hosts file.
func parseHosts(text string, skipped func(line int, reason string)) map[string][]netip.Addr {
	hosts := map[string][]netip.Addr{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			skipped(number, "not an address")
			continue
		}
		for _, name := range fields[1:] {
			name = strings.ToLower(name)
			hosts[name] = append(hosts[name], addr)
		}
	}
	for _, name := range primitives.SortedKeys(hosts) {
		hosts[name] = ordered(hosts[name])
	}
	return hosts
}

// ordered returns the IPv4 addresses and then the others, each in the given
// order, without duplicates.
func ordered(addrs []netip.Addr) []netip.Addr {
	list := make([]netip.Addr, 0, len(addrs))
	for _, v4 := range []bool{true, false} {
		for _, a := range addrs {
			if a.Is4() == v4 && !slices.Contains(list, a) {
				list = append(list, a)
			}
		}
	}
	return list
}

// readFile reads a whole file.
func readFile(ctx context.Context, files primitives.Files, name string) (text string, err error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var content []byte
	for chunk := make([]byte, 64<<10); ; {
		if ctx.Err() != nil {
			return "", primitives.Canceled(ctx)
		}
		n, err := f.ReadAt(chunk, int64(len(content)))
		content = append(content, chunk[:n]...)
		switch {
		case len(content) > fileBytesMax:
			return "", fmt.Errorf("%s: %w", name, ErrFileTooLarge)
		case errors.Is(err, io.EOF):
			return string(content), nil
		case err != nil:
			return "", err
		}
	}
}
