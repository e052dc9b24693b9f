package expr

import (
	"time"

	"plexus/nspl/datetime"
	"plexus/nspl/typed"
)

// The units, zones and formats of calls are literals that were checked with the
// statement: they are read once, with the program.

// zoneOf is the time zone at a position of a call, UTC where it has none.
func zoneOf(e *typed.Expr, at int) *time.Location {
	if at < len(e.Args) {
		if zone, ok := datetime.Zone(e.Args[at].Literal.Str); ok {
			return zone
		}
	}
	return time.UTC
}

func unitOf(e *typed.Expr) datetime.Unit {
	u, _ := datetime.UnitNamed(e.Args[0].Literal.Str)
	return u
}

// moment reads row i of a DATETIME column.
func (v *vec) moment(i int) int64 { return as[int64](v.fixed)[v.at(i)] }

// outside is the fault of what is no DATETIME, or does not fit its type.
func (c *compiler) outside(e *typed.Expr) *Fault {
	return c.fault(Overflow, e.Func, "the result is outside "+e.Type.Kind.String())
}

// moments makes a kernel that computes a moment or a count, which may be out of
// range.
func (c *compiler) moments(e *typed.Expr, compute func(args []vec, i int) (int64, bool)) kernel {
	return checkedNumbers(func(args []vec, i int) (int64, outcome) {
		n, fits := compute(args, i)
		if !fits {
			return 0, refused
		}
		return n, present
	}, c.outside(e))
}

func (c *compiler) datePart(e *typed.Expr) kernel {
	part, _ := datetime.PartNamed(e.Args[0].Literal.Str)
	zone := zoneOf(e, 2)
	return checkedNumbers(func(args []vec, i int) (int64, outcome) { return part.Of(args[1].moment(i), zone), present })
}

func (c *compiler) dateTrunc(e *typed.Expr) kernel {
	unit, zone := unitOf(e), zoneOf(e, 2)
	return c.moments(e, func(args []vec, i int) (int64, bool) { return unit.Trunc(args[1].moment(i), zone) })
}

func (c *compiler) dateBin(e *typed.Expr) kernel {
	width := unitOf(e).Nanos() * e.Args[1].Literal.Int
	return c.moments(e, func(args []vec, i int) (int64, bool) {
		return datetime.Bin(width, args[2].moment(i), args[3].moment(i))
	})
}

func (c *compiler) dateAdd(e *typed.Expr) kernel {
	unit, zone := unitOf(e), zoneOf(e, 3)
	return c.moments(e, func(args []vec, i int) (int64, bool) {
		return unit.Add(args[1].integer(i), args[2].moment(i), zone)
	})
}

func (c *compiler) dateDiff(e *typed.Expr) kernel {
	unit, zone := unitOf(e), zoneOf(e, 3)
	return c.moments(e, func(args []vec, i int) (int64, bool) {
		return unit.Diff(args[1].moment(i), args[2].moment(i), zone)
	})
}

func (c *compiler) toUnix(e *typed.Expr) kernel {
	unit := unitOf(e)
	return checkedNumbers(func(args []vec, i int) (int64, outcome) { return unit.ToUnix(args[1].moment(i)), present })
}

func (c *compiler) fromUnix(e *typed.Expr) kernel {
	unit := unitOf(e)
	return c.moments(e, func(args []vec, i int) (int64, bool) { return unit.FromUnix(args[1].integer(i)) })
}

func formatOf(e *typed.Expr) datetime.Format {
	f, _ := datetime.ParseFormat(e.Args[0].Literal.Str)
	return f
}

func (c *compiler) formatDatetime(e *typed.Expr) kernel {
	format, zone := formatOf(e), zoneOf(e, 2)
	return c.checkedTexts(e.Func, func(t *text, args []vec, i int) outcome {
		t.data = format.Append(t.data, args[1].moment(i), zone) // a bounded text: the end of the row reports a full column
		return present
	})
}

func (c *compiler) parseDatetime(e *typed.Expr) kernel {
	format, zone := formatOf(e), zoneOf(e, 2)
	how := datetime.Reject
	if len(e.Args) > 3 {
		how, _ = datetime.DisambiguationNamed(e.Args[3].Literal.Str)
	}
	return checkedNumbers(func(args []vec, i int) (int64, outcome) {
		n, verdict := format.Parse(args[1].text(i), zone, how)
		switch verdict {
		case datetime.NoMatch:
			return 0, refused
		case datetime.NoInstant:
			return 0, refusedOtherwise
		case datetime.OutOfRange:
			return 0, refusedThirdly
		}
		return n, present
	}, c.fault(CastFailed, e.Func, "the text is not of the format, or names no date"),
		c.fault(InvalidArgument, e.Func, "the local time occurs twice or never in the time zone"), c.outside(e))
}
