package dns

import (
	"net/netip"
	"strings"
)

// literal reads a host that is an address, bracketed or not.
func literal(host string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			host = inner
		}
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// ValidName reports whether a text can be a host name.
func ValidName(name string) bool { return validName(strings.TrimSuffix(name, ".")) }

// validName reports whether a name without its final dot can be asked for.
func validName(name string) bool {
	if name == "" || len(name) > nameBytesMax {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > labelBytesMax || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c >= 0x80 || !isNameByte[c] {
				return false
			}
		}
	}
	return true
}

var isNameByte = func() (table [0x80]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_" {
		table[c] = true
	}
	return
}()

// isLocal reports whether a lower-case name means this machine.
func isLocal(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// completions returns the fully qualified names, without final dots, that a host
// stands for, in the order of asking.
func (c *Config) completions(host string) []string {
	if name, qualified := strings.CutSuffix(host, "."); qualified {
		return []string{name}
	}
	names := make([]string, 0, len(c.Search)+1)
	asWritten := strings.Count(host, ".") >= c.Ndots
	if asWritten {
		names = append(names, host)
	}
	for _, domain := range c.Search {
		if name := host + "." + domain; len(name) <= nameBytesMax {
			names = append(names, name)
		}
	}
	if !asWritten {
		names = append(names, host)
	}
	return names
}
