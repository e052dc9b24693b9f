package rfc3339

import "math/bits"

// Verdict is the outcome of reading a text.
type Verdict uint8

// The verdicts.
const (
	OK      Verdict = iota
	Invalid         // no date-time, or a date that does not exist
	Range           // a date-time outside what 64-bit nanoseconds hold
)

const (
	secondsPerDay = 86_400
	nanosPerSec   = 1_000_000_000
)

// Parse reads a date-time.
func Parse(s []byte) (nanos int64, v Verdict) {
	// 2006-01-02T15:04:05Z is the shortest form.
	if len(s) < 20 || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' ||
		s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return 0, Invalid
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) {
		return 0, Invalid
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return 0, Invalid
	}
	rest := s[19:]
	fraction := int64(0)
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n]-'0' <= 9 {
			fraction = fraction*10 + int64(rest[n]-'0')
			n++
			if n > 10 {
				return 0, Invalid
			}
		}
		if n == 1 {
			return 0, Invalid
		}
		for k := n; k < 10; k++ {
			fraction *= 10
		}
		rest = rest[n:]
	}
	offset, ok := zone(rest)
	if !ok {
		return 0, Invalid
	}
	seconds := daysFromCivil(year, month, day)*secondsPerDay + hour*3600 + minute*60 + second - offset
	return join(seconds, fraction)
}

// join returns seconds and nanoseconds as nanoseconds.
func join(seconds, fraction int64) (int64, Verdict) {
	// The product of both magnitudes fits 128 bits; the sum must fit 63.
	if seconds < 0 && fraction > 0 {
		// Counting down from the next second keeps both parts of one sign.
		seconds, fraction = seconds+1, fraction-nanosPerSec
	}
	negative := seconds < 0 || fraction < 0
	if negative {
		seconds, fraction = -seconds, -fraction
	}
	high, low := bits.Mul64(uint64(seconds), nanosPerSec)
	low, carry := bits.Add64(low, uint64(fraction), 0)
	high += carry
	switch {
	case high != 0:
		return 0, Range
	case negative && low <= 1<<63:
		return -int64(low), OK
	case !negative && low < 1<<63:
		return int64(low), OK
	default:
		return 0, Range
	}
}

func zone(s []byte) (offset int64, ok bool) {
	if len(s) == 1 && (s[0] == 'Z' || s[0] == 'z') {
		return 0, true
	}
	if len(s) != 6 || s[3] != ':' || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hour, ok1 := digits(s[1:3])
	minute, ok2 := digits(s[4:6])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, false
	}
	offset = hour*3600 + minute*60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

func digits(s []byte) (int64, bool) {
	n := int64(0)
	for _, b := range s {
		if b-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(b-'0')
	}
	return n, true
}

var monthDays = [...]int64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(year, month int64) int64 {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month-1]
}

// The civil calendar repeats every 400 years; counting years from March puts
// the leap day last.
const (
	daysPerEra   = 146_097
	daysTo1970   = 719_468 // from 0000-03-01
	yearsPerEra  = 400
	monthOfMarch = 3
)

func daysFromCivil(year, month, day int64) int64 {
	if month < monthOfMarch {
		year--
	}
	era := floorDiv(year, yearsPerEra)
	yearOfEra := year - era*yearsPerEra
	fromMarch := (month + 9) % 12
	dayOfYear := (153*fromMarch+2)/5 + day - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*daysPerEra + dayOfEra - daysTo1970
}

func civilFromDays(days int64) (year, month, day int64) {
	days += daysTo1970
	era := floorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	fromMarch := (5*dayOfYear + 2) / 153
	day = dayOfYear - (153*fromMarch+2)/5 + 1
	month = fromMarch + monthOfMarch
	year = yearOfEra + era*yearsPerEra
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// LengthMax is the longest text Append writes.
const LengthMax = len("2006-01-02T15:04:05.000000000+00:00")

// Append writes a date-time.
func Append(dst []byte, nanos int64) []byte {
	seconds := floorDiv(nanos, nanosPerSec)
	fraction := nanos - seconds*nanosPerSec
	days := floorDiv(seconds, secondsPerDay)
	ofDay := seconds - days*secondsPerDay
	year, month, day := civilFromDays(days)
	dst = append(dst, byte('0'+year/1000), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10), '-')
	dst = append(pair(dst, month), '-')
	dst = append(pair(dst, day), 'T')
	dst = append(pair(dst, ofDay/3600), ':')
	dst = append(pair(dst, ofDay/60%60), ':')
	dst = pair(dst, ofDay%60)
	if fraction != 0 {
		dst = appendFraction(dst, fraction)
	}
	return append(dst, "+00:00"...)
}

func pair(dst []byte, n int64) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

func appendFraction(dst []byte, fraction int64) []byte {
	digits := 9
	for digits > 3 && fraction%1000 == 0 {
		fraction /= 1000
		digits -= 3
	}
	dst = append(dst, ".000000000"[:1+digits]...)
	for k := len(dst) - 1; fraction > 0; k-- {
		dst[k] = byte('0' + fraction%10)
		fraction /= 10
	}
	return dst
}
