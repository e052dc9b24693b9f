package datetime

import (
	"math"
	"math/bits"
	"time"
)

// Instants are Unix nanoseconds; what does not fit them is reported, never wrapped.

// civil is a date and time of day in some zone: days since 1970-01-01 and
// nanoseconds since midnight.
type civil struct{ day, nanos int64 }

const (
	nanosPerSecond = int64(time.Second)
	nanosPerDay    = 24 * int64(time.Hour)
	secondsPerDay  = 24 * 60 * 60
)

// split is a division that rounds toward −∞.
func split(a, by int64) (quotient, rest int64) {
	quotient, rest = a/by, a%by
	if rest < 0 {
		quotient--
		rest += by
	}
	return quotient, rest
}

// at returns an instant as a time in a zone.
func at(t int64, zone *time.Location) time.Time {
	seconds, nanos := split(t, nanosPerSecond)
	return time.Unix(seconds, nanos).In(zone)
}

// civilAt returns the local date and time of day of an instant.
func civilAt(t time.Time) civil {
	_, offset := t.Zone()
	day, second := split(t.Unix()+int64(offset), secondsPerDay)
	return civil{day, second*nanosPerSecond + int64(t.Nanosecond())}
}

// instant is a local time at an offset from UTC in seconds.
func (c civil) instant(offset int64) (int64, bool) {
	second, nanos := split(c.nanos, nanosPerSecond)
	seconds := c.day*secondsPerDay + second - offset
	return nanoseconds(seconds, nanos)
}

// nanoseconds is the instant of Unix seconds and a fraction of one.
func nanoseconds(seconds, nanos int64) (int64, bool) {
	if seconds < 0 { // so that the product of the smallest instant fits
		seconds, nanos = seconds+1, nanos-nanosPerSecond
	}
	t := seconds * nanosPerSecond
	if seconds > math.MaxInt64/nanosPerSecond || seconds < math.MinInt64/nanosPerSecond {
		return 0, false
	}
	sum := t + nanos
	return sum, (sum < t) == (nanos < 0)
}

// date is the Gregorian date of a day.
func date(day int64) (year int64, month, dayOfMonth int) {
	y, m, d := time.Unix(day*secondsPerDay, 0).UTC().Date()
	return int64(y), int(m), d
}

// dayOf is the day of a date that exists.
func dayOf(year int64, month, dayOfMonth int) int64 {
	day, _ := split(time.Date(int(year), time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Unix(), secondsPerDay)
	return day
}

func daysIn(year int64, month int) int {
	return time.Date(int(year), time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// weekday counts from Monday, which is 0.
func weekday(day int64) int64 {
	_, rest := split(day+3, 7) // 1970-01-01 was a Thursday
	return rest
}

// Of returns a part of an instant in a zone.
func (p Part) Of(t int64, zone *time.Location) int64 {
	local := at(t, zone)
	switch p {
	case PartYear:
		return int64(local.Year())
	case PartQuarter:
		return int64(local.Month()+2) / 3
	case PartMonth:
		return int64(local.Month())
	case PartDay:
		return int64(local.Day())
	case PartHour:
		return int64(local.Hour())
	case PartMinute:
		return int64(local.Minute())
	case PartSecond:
		return int64(local.Second())
	case PartMillisecond:
		return int64(local.Nanosecond()) / 1e6
	case PartMicrosecond:
		return int64(local.Nanosecond()) / 1e3
	case PartNanosecond:
		return int64(local.Nanosecond())
	case PartDayOfWeek:
		return int64(local.Weekday())
	case PartDayOfYear:
		return int64(local.YearDay())
	case PartISODayOfWeek:
		return int64(local.Weekday()+6)%7 + 1
	}
	year, week := local.ISOWeek()
	if p == PartISOYear {
		return int64(year)
	}
	return int64(week)
}

// Trunc returns the first instant of the unit that an instant lies in, as the clocks
// of a zone show it: the begin of the time without an interruption before it. A
// midnight that is skipped begins behind the gap, and an hour that is repeated is two:
// units shorter than a day begin where clocks are set.
func (u Unit) Trunc(t int64, zone *time.Location) (int64, bool) {
	local := at(t, zone)
	for {
		c := civilAt(local)
		first := u.floor(c)
		_, offset := local.Zone()
		start, fits := first.instant(int64(offset))
		since, _ := local.ZoneBounds()
		if since.IsZero() {
			return start, fits
		}
		began, fitsToo := nanoseconds(since.Unix(), 0)
		switch {
		case !fitsToo || fits && start > began:
			return start, fits
		case u < Day:
			return began, true
		}
		// The offset changed within the unit, or before it.
		before := at(began-1, zone)
		if u.floor(civilAt(before)) != first {
			return began, true
		}
		local = before
	}
}

// floor returns the local begin of a unit.
func (u Unit) floor(c civil) civil {
	switch {
	case u < Day:
		return civil{c.day, c.nanos - c.nanos%u.Nanos()}
	case u == Day:
		return civil{day: c.day}
	case u == Week:
		return civil{day: c.day - weekday(c.day)}
	}
	year, month, _ := date(c.day)
	switch u {
	case Quarter:
		month -= (month - 1) % 3
	case Year:
		month = 1
	}
	return civil{day: dayOf(year, month, 1)}
}

// Bin returns the begin of the bin of a width in nanoseconds, counted from an
// origin.
func Bin(width, t, origin int64) (int64, bool) {
	_, a := split(t, width)
	_, b := split(origin, width)
	rest := a - b
	if rest < 0 {
		rest += width
	}
	start := t - rest
	return start, start <= t
}

// ToUnix counts the units since 1970, toward −∞.
func (u Unit) ToUnix(t int64) int64 {
	n, _ := split(t, u.Nanos())
	return n
}

// FromUnix is the instant so many units after 1970.
func (u Unit) FromUnix(n int64) (int64, bool) { return times(n, u.Nanos()) }

// times multiplies with a positive number.
func times(n, by int64) (int64, bool) {
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	high, low := bits.Mul64(magnitude, uint64(by))
	switch {
	case high != 0, n >= 0 && low > math.MaxInt64, low > 1<<63:
		return 0, false
	case n < 0:
		return int64(-low), true
	}
	return int64(low), true
}

// addMax is more months, and more days, than the range of instants has.
const addMax = 1_000_000

// Add returns the instant n units later. Days and weeks of a zone, and greater
// units, keep the local time of day: the end of a month stays one, a time that is
// skipped moves forward by the gap, of one that is repeated it is the earlier.
func (u Unit) Add(n, t int64, zone *time.Location) (int64, bool) {
	if u < Day {
		span, fits := times(n, u.Nanos())
		sum := t + span
		return sum, fits && (sum < t) == (span < 0)
	}
	if n > addMax || n < -addMax {
		return 0, false
	}
	c := civilAt(at(t, zone))
	switch u {
	case Day:
		c.day += n
	case Week:
		c.day += 7 * n
	default:
		c.day = addMonths(c.day, n*u.months())
	}
	return c.in(zone, Compatible)
}

// months is the length of a unit of months.
func (u Unit) months() int64 { return [...]int64{Month: 1, Quarter: 3, Year: 12}[u] }

func addMonths(day, n int64) int64 {
	year, month, dayOfMonth := date(day)
	years, index := split(int64(month-1)+n, 12)
	year += years
	return dayOf(year, int(index)+1, min(dayOfMonth, daysIn(year, int(index)+1)))
}

// Diff counts the complete units from a to b, negative where b is the earlier.
func (u Unit) Diff(a, b int64, zone *time.Location) (int64, bool) {
	if u < Day {
		return fixedDiff(a, b, u.Nanos())
	}
	from, to := civilAt(at(a, zone)), civilAt(at(b, zone))
	var n int64
	size := int64(1)
	if u <= Week {
		n = to.day - from.day
		n = complete(n, a <= b, to.nanos, from.nanos)
		if u == Week {
			size = 7
		}
	} else {
		year, month, day := date(from.day)
		toYear, toMonth, toDay := date(to.day)
		n = 12*(toYear-year) + int64(toMonth-month)
		n = complete(n, a <= b, int64(toDay)*nanosPerDay+to.nanos, int64(day)*nanosPerDay+from.nanos)
		size = u.months()
	}
	return n / size, true
}

// complete takes the last unit away where it is not reached.
func complete(n int64, forward bool, to, from int64) int64 {
	if forward {
		if to < from {
			n--
		}
		return max(n, 0)
	}
	if to > from {
		n++
	}
	return min(n, 0)
}

func fixedDiff(a, b, unit int64) (int64, bool) {
	distance := uint64(b) - uint64(a)
	if b < a {
		distance = -distance
	}
	distance /= uint64(unit)
	switch {
	case b >= a:
		return int64(distance), distance <= math.MaxInt64
	case distance == 1<<63:
		return math.MinInt64, true
	}
	return -int64(distance), distance <= math.MaxInt64
}
