package datetime

import (
	"strconv"
	"time"
)

// Append writes an instant as the clocks of a zone show it.
func (f Format) Append(to []byte, t int64, zone *time.Location) []byte {
	local := at(t, zone)
	for i := range f {
		to = f[i].append(to, local)
	}
	return to
}

// append writes one directive.
func (d *Directive) append(to []byte, local time.Time) []byte {
	number := func(n, width int) []byte {
		if d.Bare {
			width = 1
		}
		return appendPadded(to, n, width)
	}
	switch d.Code {
	case 0:
		return append(to, d.Text...)
	case 'Y':
		return appendPadded(to, local.Year(), 4)
	case 'm':
		return number(int(local.Month()), 2)
	case 'b':
		return append(to, local.Month().String()[:3]...)
	case 'B':
		return append(to, local.Month().String()...)
	case 'd':
		return number(local.Day(), 2)
	case 'e':
		if local.Day() < 10 {
			to = append(to, ' ')
		}
		return strconv.AppendInt(to, int64(local.Day()), 10)
	case 'j':
		return number(local.YearDay(), 3)
	case 'a':
		return append(to, local.Weekday().String()[:3]...)
	case 'A':
		return append(to, local.Weekday().String()...)
	case 'u':
		return append(to, '1'+byte(local.Weekday()+6)%7)
	case 'w':
		return append(to, '0'+byte(local.Weekday()))
	case 'G':
		year, _ := local.ISOWeek()
		return appendPadded(to, year, 4)
	case 'V':
		_, week := local.ISOWeek()
		return number(week, 2)
	case 'H':
		return number(local.Hour(), 2)
	case 'I':
		return number((local.Hour()+11)%12+1, 2)
	case 'p':
		if local.Hour() < 12 {
			return append(to, "AM"...)
		}
		return append(to, "PM"...)
	case 'M':
		return number(local.Minute(), 2)
	case 'S':
		return number(local.Second(), 2)
	case 'f':
		return appendFraction(to, local.Nanosecond(), d.Digits)
	case '.':
		return appendSeconds(to, local.Nanosecond())
	case 's':
		return strconv.AppendInt(to, local.Unix(), 10)
	case 'F':
		return local.AppendFormat(to, time.DateOnly)
	case 'T':
		return local.AppendFormat(to, time.TimeOnly)
	case 'R':
		return local.AppendFormat(to, "15:04")
	case 'Z':
		return local.AppendFormat(to, "MST")
	case 'Q':
		return append(to, local.Location().String()...)
	}
	return appendOffset(to, local, d.Colons)
}

// appendPadded writes a number that is not negative.
func appendPadded(to []byte, n, width int) []byte {
	for limit := 1; width > 1; width-- {
		limit *= 10
		if n < limit {
			// As many zeros as digits are missing.
			for ; width > 1; width-- {
				to = append(to, '0')
			}
			break
		}
	}
	return strconv.AppendInt(to, int64(n), 10)
}

// appendFraction writes the first digits of a fraction of a second.
func appendFraction(to []byte, nanos, digits int) []byte {
	for range 9 - digits {
		nanos /= 10
	}
	return appendPadded(to, nanos, digits)
}

// appendSeconds writes a point and 3, 6 or 9 digits, or nothing for a whole second.
func appendSeconds(to []byte, nanos int) []byte {
	digits := 9
	switch {
	case nanos == 0:
		return to
	case nanos%1e6 == 0:
		digits = 3
	case nanos%1e3 == 0:
		digits = 6
	}
	return appendFraction(append(to, '.'), nanos, digits)
}

func appendOffset(to []byte, local time.Time, colons int) []byte {
	_, offset := local.Zone()
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	to = appendPadded(append(to, sign), offset/3600, 2)
	if colons > 0 {
		to = append(to, ':')
	}
	to = appendPadded(to, offset/60%60, 2)
	if colons == 2 {
		to = appendPadded(append(to, ':'), offset%60, 2)
	}
	return to
}
