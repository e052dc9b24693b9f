package typed

import (
	"math"
	"net/netip"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/datetime"
)

// wrong reports a literal that the function does not take.
func (c *checker) wrong(a *Expr, format string, args ...any) *ast.Diagnostic {
	return c.fault(ast.CodeInvalidLiteral, a.Span, format, args...)
}

// oneOf reports a word that is not among those accepted.
func (c *checker) oneOf(a *Expr, what string, words []string) {
	d := c.wrong(a, "'%s' is no %s", a.Literal.Str, what)
	if d.Hint = c.near(a.Literal.Str, words); d.Hint == "" {
		d.WithHint("accepted: %s", strings.Join(words, ", "))
	}
}

// unit checks the name of a unit of time.
func (c *checker) unit(a *Expr, fixed bool) bool {
	u, ok := datetime.UnitNamed(a.Literal.Str)
	switch {
	case !ok:
		c.oneOf(a, "unit of time", datetime.Units(fixed))
	case fixed && !u.Fixed():
		c.wrong(a, "%s has no fixed length", u).WithHint("accepted: %s", strings.Join(datetime.Units(true), ", "))
		ok = false
	}
	return ok
}

// zone checks the name of a time zone, if the argument is there.
func (c *checker) zone(args []*Expr, at int) bool {
	if at >= len(args) {
		return true
	}
	name := args[at].Literal.Str
	if _, ok := datetime.Zone(name); ok {
		return true
	}
	d := c.wrong(args[at], "'%s' is no time zone", name)
	if d.Hint = c.near(name, datetime.ZoneNames()); d.Hint == "" {
		d.WithHint("accepted: UTC, an IANA name such as Europe/Berlin, or an offset such as +01:00")
	}
	return false
}

// unitRule checks a unit as the first argument, and a zone at a position.
func unitRule(fixed bool, zone int) func(*checker, []*Expr) bool {
	return func(c *checker, args []*Expr) bool {
		ok := c.unit(args[0], fixed)
		return c.zone(args, zone) && ok
	}
}

func datePartRule(c *checker, args []*Expr) bool {
	_, ok := datetime.PartNamed(args[0].Literal.Str)
	if !ok {
		c.oneOf(args[0], "part of a date", datetime.Parts())
	}
	return c.zone(args, 2) && ok
}

func dateBinRule(c *checker, args []*Expr) bool {
	if !c.unit(args[0], true) {
		return false
	}
	u, _ := datetime.UnitNamed(args[0].Literal.Str)
	if width := args[1].Literal.Int; width < 1 || width > math.MaxInt64/u.Nanos() {
		c.wrong(args[1], "the width must be 1 to %d", math.MaxInt64/u.Nanos())
		return false
	}
	return true
}

// format reads a format.
func (c *checker) format(a *Expr) (datetime.Format, bool) {
	f, err := datetime.ParseFormat(a.Literal.Str)
	if err != nil {
		c.wrong(a, "the format has an error: %v", err).
			WithHint("accepted: %%Y %%m %%d %%H %%M %%S %%f %%z and others, see the manual")
		return nil, false
	}
	return f, true
}

func writeFormatRule(c *checker, args []*Expr) bool {
	_, ok := c.format(args[0])
	return c.zone(args, 2) && ok
}

func readFormatRule(c *checker, args []*Expr) bool {
	f, ok := c.format(args[0])
	if !ok || !c.zone(args, 2) {
		return false
	}
	zoned, why := f.Readable()
	switch {
	case why != "":
		c.wrong(args[0], "the format %s", why)
		return false
	case zoned && len(args) == 2:
		c.wrong(args[0], "the format names no offset, so a time zone is needed").WithHint("parse_datetime(format, text, 'UTC')")
		return false
	case !zoned && len(args) > 2:
		c.wrong(args[2], "the format names the offset, so no time zone can be given")
		return false
	}
	if len(args) > 3 {
		for _, word := range datetime.Disambiguations() {
			if args[3].Literal.Str == word {
				return true
			}
		}
		c.oneOf(args[3], "disambiguation", datetime.Disambiguations())
		return false
	}
	return true
}

// networkRule checks a network that is a literal.
func networkRule(c *checker, args []*Expr) bool {
	a := args[1]
	if a.Op != OpLiteral || a.Literal.Null {
		return true
	}
	p, err := netip.ParsePrefix(a.Literal.Str)
	switch {
	case err != nil:
		c.wrong(a, "'%s' is no network", a.Literal.Str).WithHint("for example 10.0.0.0/8 or 2001:db8::/32")
	case p.Masked() != p:
		c.wrong(a, "the network '%s' has host bits set", a.Literal.Str).WithHint("did you mean %s?", p.Masked())
	default:
		return true
	}
	return false
}
