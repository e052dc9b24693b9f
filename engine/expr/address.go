package expr

import (
	"net/netip"
	"unsafe"

	"plexus/nspl/typed"
)

// Addresses are 4 or 16 octets.

func (c *compiler) noAddress(name string) *Fault {
	return c.fault(InvalidArgument, name, "an address has 4 or 16 octets")
}

func isAddress(b []byte) bool { return len(b) == 4 || len(b) == 16 }

// parseAddress reads a plain address: no zone, port or brackets, no leading zeros.
func parseAddress(s []byte) (netip.Addr, bool) {
	a, err := netip.ParseAddr(view(s))
	return a, err == nil && a.Zone() == ""
}

// view shows octets as a string, for as long as nobody changes them.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (c *compiler) ipFromString(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		a, ok := parseAddress(args[0].text(i))
		if !ok {
			return refused
		}
		if t.room(i, a.BitLen()/8) {
			octets := a.As16()
			if a.Is4() {
				t.data = append(t.data, octets[12:]...)
			} else {
				t.data = append(t.data, octets[:]...)
			}
		}
		return present
	}, c.fault(CastFailed, e.Func, "the text is no IPv4 or IPv6 address"))
}

// ipTextMax is the longest text of an address.
const ipTextMax = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")

func (c *compiler) ipToString(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		a, ok := netip.AddrFromSlice(args[0].text(i))
		if !ok {
			return refused
		}
		if t.room(i, ipTextMax) {
			t.data = a.AppendTo(t.data)
		}
		return present
	}, c.noAddress(e.Func))
}

func (c *compiler) ipFamily(e *typed.Expr) kernel {
	return checkedNumbers(func(args []vec, i int) (int64, outcome) {
		switch len(args[0].text(i)) {
		case 4:
			return 4, present
		case 16:
			return 6, present
		}
		return 0, refused
	}, c.noAddress(e.Func))
}

func (c *compiler) ipTrunc(e *typed.Expr) kernel {
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		b, prefix := args[0].text(i), args[1].integer(i)
		switch {
		case !isAddress(b):
			return refused
		case prefix < 0 || prefix > int64(8*len(b)):
			return refusedOtherwise
		}
		if t.room(i, len(b)) {
			from := len(t.data)
			t.data = append(t.data, b...)
			mask(t.data[from:], int(prefix))
		}
		return present
	}, c.noAddress(e.Func), c.fault(InvalidArgument, e.Func, "the prefix is longer than the address, or negative"))
}

// mask clears the bits behind a prefix.
func mask(b []byte, prefix int) {
	for k := range b {
		keep := min(max(prefix-8*k, 0), 8)
		b[k] &= ^byte(0) << (8 - keep)
	}
}

// ipUnmap makes an IPv4 address of one that is mapped into IPv6. Other octets stay.
func ipUnmap(args []vec, i int, b []byte) (lo, hi int) {
	if len(b) == 16 {
		if a, _ := netip.AddrFromSlice(b); a.Is4In6() {
			return 12, 16
		}
	}
	return 0, len(b)
}

func isIPAddress(args []vec, i int) (bool, outcome) {
	_, ok := parseAddress(args[0].text(i))
	return ok, present
}

// parseNetwork reads a network in CIDR form without host bits.
func parseNetwork(s []byte) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(view(s))
	return p, err == nil && p == p.Masked()
}

// ipInNetwork is false for addresses of the other family.
func (c *compiler) ipInNetwork(e *typed.Expr) kernel {
	var known *netip.Prefix // a literal, which was checked with the statement
	if network := e.Args[1]; network.Op == typed.OpLiteral && !network.Literal.Null {
		if p, ok := parseNetwork([]byte(network.Literal.Str)); ok {
			known = &p
		}
	}
	return checkedBools(func(args []vec, i int) (bool, outcome) {
		a, ok := netip.AddrFromSlice(args[0].text(i))
		if !ok {
			return false, refused
		}
		if known != nil {
			return known.Contains(a), present
		}
		p, ok := parseNetwork(args[1].text(i))
		if !ok {
			return false, refusedOtherwise
		}
		return p.Contains(a), present
	}, c.noAddress(e.Func), c.fault(InvalidArgument, e.Func, "the text is no network address with its prefix length"))
}
