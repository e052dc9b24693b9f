package datetime

import "time"

// Disambiguation says which instant a local time is that occurs twice or never.
type Disambiguation uint8

// The disambiguations. Where a time is skipped, the earlier instant is what the
// clocks would have shown with the offset behind the gap, the later one with that
// before it. Compatible is the later one there, and the earlier of two.
const (
	Reject Disambiguation = iota
	Earlier
	Later
	Compatible
)

var disambiguationNames = []string{"reject", "earlier", "later", "compatible"}

// Disambiguations lists the words of what parse_datetime can do with a local time
// that occurs twice or never.
func Disambiguations() []string { return disambiguationNames }

// DisambiguationNamed returns the disambiguation with a name.
func DisambiguationNamed(name string) (Disambiguation, bool) {
	for i, known := range disambiguationNames {
		if known == name {
			return Disambiguation(i), true
		}
	}
	return 0, false
}

// reach is more than any offset from UTC, in seconds.
const reach = 26 * 60 * 60

// in returns the instant that clocks of a zone show the local time at. With Reject
// it is none where there is not exactly one.
func (c civil) in(zone *time.Location, d Disambiguation) (t int64, ok bool) {
	t, verdict := c.resolve(zone, d)
	return t, verdict == Read
}

func (c civil) resolve(zone *time.Location, d Disambiguation) (int64, Verdict) {
	second, _ := split(c.nanos, nanosPerSecond)
	local := c.day*secondsPerDay + second
	var offsets []int64 // of the instants that show it, in order
	var before, behind int64
	probe := time.Unix(local-reach, 0).In(zone)
	for {
		_, seconds := probe.Zone()
		offset := int64(seconds)
		since, until := probe.ZoneBounds()
		begun := since.IsZero() || local-offset >= since.Unix()
		ended := !until.IsZero() && local-offset >= until.Unix()
		switch {
		case begun && !ended:
			offsets = append(offsets, offset)
		case ended:
			before = offset
		default:
			behind = offset
		}
		if until.IsZero() || until.Unix() > local+reach || !begun {
			break
		}
		probe = until.In(zone)
	}
	var offset int64
	switch {
	case len(offsets) == 1:
		offset = offsets[0]
	case d == Reject:
		return 0, NoInstant
	case len(offsets) == 0 && d == Earlier:
		offset = behind
	case len(offsets) == 0:
		offset = before
	case d == Later:
		offset = offsets[len(offsets)-1]
	default:
		offset = offsets[0]
	}
	t, fits := c.instant(offset)
	if !fits {
		return 0, OutOfRange
	}
	return t, Read
}
