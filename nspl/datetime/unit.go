package datetime

import "slices"

// Unit is a length of time, fixed or of the calendar.
type Unit uint8

// The units.
const (
	Nanosecond Unit = iota
	Microsecond
	Millisecond
	Second
	Minute
	Hour
	Day
	Week
	Month
	Quarter
	Year
)

var unitNames = []string{"nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}

var unitNanos = [...]int64{1, 1e3, 1e6, 1e9, 60e9, 3600e9, 86400e9, 604800e9}

// String returns the name.
func (u Unit) String() string { return unitNames[u] }

// Fixed reports whether the unit always has the same length in UTC.
func (u Unit) Fixed() bool { return u <= Week }

// Nanos is the length of a fixed unit.
func (u Unit) Nanos() int64 { return unitNanos[u] }

// Units lists the names of the units, or of the fixed ones only.
func Units(fixed bool) []string {
	if fixed {
		return unitNames[:Week+1]
	}
	return unitNames
}

// UnitNamed returns the unit with a name.
func UnitNamed(name string) (Unit, bool) {
	i := slices.Index(unitNames, name)
	return Unit(max(i, 0)), i >= 0
}

// Part is one number of a calendar date and time of day.
type Part uint8

// The parts.
const (
	PartYear Part = iota
	PartQuarter
	PartMonth
	PartDay
	PartHour
	PartMinute
	PartSecond
	PartMillisecond
	PartMicrosecond
	PartNanosecond
	PartDayOfWeek // Sunday is 0
	PartDayOfYear
	PartISOYear
	PartISOWeek
	PartISODayOfWeek // Monday is 1
)

var partNames = []string{"year", "quarter", "month", "day", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond",
	"day_of_week", "day_of_year", "iso_year", "iso_week", "iso_day_of_week"}

// Parts lists the names of the parts.
func Parts() []string { return partNames }

// PartNamed returns the part with a name.
func PartNamed(name string) (Part, bool) {
	i := slices.Index(partNames, name)
	return Part(max(i, 0)), i >= 0
}
