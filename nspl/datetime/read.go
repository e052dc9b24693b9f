package datetime

import (
	"math"
	"strings"
	"time"
)

// Verdict says how reading a text ended.
type Verdict uint8

// The verdicts.
const (
	Read       Verdict = iota
	NoMatch            // the text is not of the format, or names no date
	NoInstant          // the local time occurs twice, or never
	OutOfRange         // the instant does not fit a DATETIME
)

// reader is a text that is being read by a format that is [Format.Readable].
type reader struct {
	text []byte
	// What was read so far, with its defaults.
	year, month, day, yearDay, weekday int64
	isoYear, isoWeek                   int64
	hour, half, minute, second, nanos  int64
	offset, unix                       int64
	has                                [fieldCount]bool
}

// Parse reads a whole text. The zone counts where the format names no offset.
func (f Format) Parse(text []byte, zone *time.Location, d Disambiguation) (int64, Verdict) {
	r := reader{text: text}
	for i := range f {
		if !r.directive(&f[i]) {
			return 0, NoMatch
		}
		for _, x := range directiveFields[f[i].Code] {
			r.has[x] = true
		}
	}
	if len(r.text) > 0 {
		return 0, NoMatch
	}
	if r.has[fieldUnix] {
		return ranged(nanoseconds(r.unix, r.nanos))
	}
	c, ok := r.civil()
	switch {
	case !ok:
		return 0, NoMatch
	case r.has[fieldOffset]:
		return ranged(c.instant(r.offset))
	}
	return c.resolve(zone, d)
}

func ranged(t int64, fits bool) (int64, Verdict) {
	if !fits {
		return 0, OutOfRange
	}
	return t, Read
}

// directive reads one directive.
func (r *reader) directive(d *Directive) bool {
	switch d.Code {
	case 0:
		return r.literal(d.Text)
	case 'Y':
		return r.number(&r.year, 4, 0, 9999, false)
	case 'm':
		return r.number(&r.month, 2, 1, 12, d.Bare)
	case 'b':
		return r.word(&r.month, 3, 12, func(i int) string { return time.Month(i).String() })
	case 'B':
		return r.word(&r.month, 0, 12, func(i int) string { return time.Month(i).String() })
	case 'd':
		return r.number(&r.day, 2, 1, 31, d.Bare)
	case 'e':
		if len(r.text) > 0 && r.text[0] == ' ' {
			r.text = r.text[1:]
			return r.number(&r.day, 1, 1, 9, false)
		}
		return r.number(&r.day, 2, 10, 31, false)
	case 'j':
		return r.number(&r.yearDay, 3, 1, 366, d.Bare)
	case 'a':
		return r.word(&r.weekday, 3, 7, weekdayName)
	case 'A':
		return r.word(&r.weekday, 0, 7, weekdayName)
	case 'u':
		return r.number(&r.weekday, 1, 1, 7, false)
	case 'w':
		if !r.number(&r.weekday, 1, 0, 6, false) {
			return false
		}
		r.weekday = (r.weekday+6)%7 + 1
		return true
	case 'G':
		return r.number(&r.isoYear, 4, 0, 9999, false)
	case 'V':
		return r.number(&r.isoWeek, 2, 1, 53, d.Bare)
	case 'H':
		return r.number(&r.hour, 2, 0, 23, d.Bare)
	case 'I':
		return r.number(&r.hour, 2, 1, 12, d.Bare)
	case 'p':
		return r.word(&r.half, 0, 2, func(i int) string { return [...]string{1: "AM", 2: "PM"}[i] })
	case 'M':
		return r.number(&r.minute, 2, 0, 59, d.Bare)
	case 'S':
		return r.number(&r.second, 2, 0, 59, d.Bare)
	case 'f':
		return r.fraction(d.Digits, d.Digits)
	case '.':
		if len(r.text) == 0 || r.text[0] != '.' {
			return true
		}
		r.text = r.text[1:]
		return r.fraction(1, 9)
	case 's':
		return r.seconds()
	case 'F':
		return r.number(&r.year, 4, 0, 9999, false) && r.literal("-") && r.number(&r.month, 2, 1, 12, false) && r.literal("-") &&
			r.number(&r.day, 2, 1, 31, false)
	case 'T':
		return r.clock() && r.literal(":") && r.number(&r.second, 2, 0, 59, false)
	case 'R':
		return r.clock()
	}
	return r.zone(d.Colons)
}

func weekdayName(i int) string { return time.Weekday(i % 7).String() }

func (r *reader) clock() bool {
	return r.number(&r.hour, 2, 0, 23, false) && r.literal(":") && r.number(&r.minute, 2, 0, 59, false)
}

func (r *reader) literal(text string) bool {
	if len(r.text) < len(text) || string(r.text[:len(text)]) != text {
		return false
	}
	r.text = r.text[len(text):]
	return true
}

// digits counts the digits that stand here, up to a limit.
func (r *reader) digits(limit int) int {
	n := 0
	for n < limit && n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		n++
	}
	return n
}

// number reads exactly width digits, or, bare, up to that many without padding.
func (r *reader) number(to *int64, width int, low, high int64, bare bool) bool {
	n := r.digits(width)
	if n == 0 || !bare && n < width || bare && n > 1 && r.text[0] == '0' {
		return false
	}
	*to = 0
	for _, b := range r.text[:n] {
		*to = 10**to + int64(b-'0')
	}
	r.text = r.text[n:]
	return *to >= low && *to <= high
}

// fraction reads the digits behind a second.
func (r *reader) fraction(least, most int) bool {
	n := r.digits(most)
	if n < least {
		return false
	}
	r.nanos = 0
	for k := range 9 {
		digit := int64(0)
		if k < n {
			digit = int64(r.text[k] - '0')
		}
		r.nanos = 10*r.nanos + digit
	}
	r.text = r.text[n:]
	return true
}

// seconds reads a Unix time.
func (r *reader) seconds() bool {
	negative := r.literal("-")
	n := r.digits(len(r.text))
	if n == 0 {
		return false
	}
	for _, b := range r.text[:n] {
		r.unix = min(10*r.unix+int64(b-'0'), math.MaxInt64/100)
	}
	r.text = r.text[n:]
	if negative {
		r.unix = -r.unix
	}
	return true
}

// word reads one of the names 1 to n in any case, or their first letters.
func (r *reader) word(to *int64, letters, n int, name func(i int) string) bool {
	for i := 1; i <= n; i++ {
		text := name(i)
		if letters > 0 {
			text = text[:letters]
		}
		if len(r.text) >= len(text) && strings.EqualFold(string(r.text[:len(text)]), text) {
			*to = int64(i)
			r.text = r.text[len(text):]
			return true
		}
	}
	return false
}

// zone reads an offset from UTC.
func (r *reader) zone(colons int) bool {
	negative := r.literal("-")
	if !negative && !r.literal("+") {
		return false
	}
	var hours, minutes, seconds int64
	ok := r.number(&hours, 2, 0, 23, false) && (colons == 0 || r.literal(":")) && r.number(&minutes, 2, 0, 59, false) &&
		(colons < 2 || r.literal(":") && r.number(&seconds, 2, 0, 59, false))
	r.offset = hours*3600 + minutes*60 + seconds
	if negative {
		r.offset = -r.offset
	}
	return ok
}

// civil is the date and time that was read; false for a date that does not exist.
func (r *reader) civil() (civil, bool) {
	hour := r.hour
	if r.has[fieldHalf] {
		hour = hour%12 + 12*(r.half-1)
	}
	c := civil{nanos: (hour*3600+r.minute*60+r.second)*nanosPerSecond + r.nanos}
	switch {
	case r.has[fieldDayOfYear]:
		c.day = dayOf(r.year, 1, 1) + r.yearDay - 1
		return c, r.yearDay <= 365 || daysIn(r.year, 2) == 29
	case r.has[fieldISOWeek]:
		// Week 1 is the one with January 4th.
		fourth := dayOf(r.isoYear, 1, 4)
		c.day = fourth - weekday(fourth) + 7*(r.isoWeek-1) + r.weekday - 1
		year, week := time.Unix(c.day*secondsPerDay, 0).UTC().ISOWeek()
		return c, int64(year) == r.isoYear && int64(week) == r.isoWeek
	}
	if r.day > int64(daysIn(r.year, int(r.month))) {
		return c, false
	}
	c.day = dayOf(r.year, int(r.month), int(r.day))
	return c, !r.has[fieldWeekday] || weekday(c.day)+1 == r.weekday
}
