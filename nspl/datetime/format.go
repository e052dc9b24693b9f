package datetime

import (
	"fmt"
	"strings"
)

// LongestMax bounds the bytes of one formatted value.
const LongestMax = 256

// Directive is one piece of a format: a literal text, or a field.
type Directive struct {
	// Code is the letter after %, 0 for a literal. %.f has code '.', the forms of
	// %z with colons have the code 'z' and count them in Colons.
	Code byte
	// Text is the literal.
	Text string
	// Bare says that numbers stand without padding: %-d.
	Bare bool
	// Digits is the number of digits of %1f to %9f; %f has 9.
	Digits int
	Colons int
}

// Format is a parsed format.
type Format []Directive

// FormatError says what is wrong at a byte of a format.
type FormatError struct {
	At     int
	Reason string
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.At) }

// plain are the directives that are one letter, and bare those that take the flag
// '-'.
const (
	plain = "YmbBdejaAuwGVHIpMSfsFTRntZQ"
	bare  = "mdjVHIMS"
)

// ParseFormat reads a format. The error is a *FormatError.
func ParseFormat(text string) (Format, error) {
	var f Format
	for i := 0; i < len(text); {
		if text[i] != '%' {
			n := strings.IndexByte(text[i:], '%')
			if n < 0 {
				n = len(text) - i
			}
			f = append(f, Directive{Text: text[i : i+n]})
			i += n
			continue
		}
		d, n := directive(text[i+1:])
		if n == 0 {
			return nil, &FormatError{i, "unknown directive"}
		}
		f = append(f, d)
		i += 1 + n
	}
	if n := f.Longest(); n > LongestMax {
		return nil, &FormatError{0, fmt.Sprintf("a value takes up to %d bytes, more than %d,", n, LongestMax)}
	}
	return f, nil
}

// directive reads what follows %; n is 0 if it is none.
func directive(s string) (d Directive, n int) {
	at := func(i int) byte {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	switch c := at(0); {
	case c == 0:
		return d, 0
	case c == '%':
		return Directive{Text: "%"}, 1
	case c == 'n':
		return Directive{Text: "\n"}, 1
	case c == 't':
		return Directive{Text: "\t"}, 1
	case c == '-' && strings.IndexByte(bare, at(1)) >= 0 && at(1) != 0:
		return Directive{Code: at(1), Bare: true}, 2
	case c == '.' && at(1) == 'f':
		return Directive{Code: '.'}, 2
	case c >= '1' && c <= '9' && at(1) == 'f':
		return Directive{Code: 'f', Digits: int(c - '0')}, 2
	case c == 'z':
		return Directive{Code: 'z'}, 1
	case c == ':' && at(1) == 'z':
		return Directive{Code: 'z', Colons: 1}, 2
	case c == ':' && at(1) == ':' && at(2) == 'z':
		return Directive{Code: 'z', Colons: 2}, 3
	case c == 'f':
		return Directive{Code: 'f', Digits: 9}, 1
	case strings.IndexByte(plain, c) >= 0:
		return Directive{Code: c}, 1
	}
	return d, 0
}

// widths are the most bytes that a directive writes.
var widths = ['z' + 1]int{
	'Y': 4, 'm': 2, 'b': 3, 'B': len("September"), 'd': 2, 'e': 2, 'j': 3, 'a': 3, 'A': len("Wednesday"), 'u': 1, 'w': 1,
	'G': 4, 'V': 2, 'H': 2, 'I': 2, 'p': 2, 'M': 2, 'S': 2, '.': 10, 's': len("-9223372037"), 'F': len("2006-01-02"),
	'T': len("15:04:05"), 'R': len("15:04"), 'Z': 6, 'Q': len("America/Argentina/ComodRivadavia"),
}

// Longest is the most bytes that a formatted value has.
func (f Format) Longest() int {
	n := 0
	for _, d := range f {
		switch d.Code {
		case 0:
			n += len(d.Text)
		case 'f':
			n += d.Digits
		case 'z':
			n += [...]int{len("+0000"), len("+00:00"), len("+00:00:00")}[d.Colons]
		default:
			n += widths[d.Code]
		}
	}
	return n
}

// field is what a directive says about an instant.
type field uint8

const (
	fieldYear field = iota
	fieldMonth
	fieldDay
	fieldDayOfYear
	fieldWeekday
	fieldISOYear
	fieldISOWeek
	fieldHour
	fieldHour12
	fieldHalf
	fieldMinute
	fieldSecond
	fieldFraction
	fieldOffset
	fieldUnix
	fieldCount
)

var fieldNames = [fieldCount]string{"year", "month", "day", "day of the year", "weekday", "ISO year", "ISO week", "hour", "hour of the half day",
	"AM or PM", "minute", "second", "fraction", "offset", "Unix time"}

var directiveFields = ['z' + 1][]field{
	'Y': {fieldYear}, 'm': {fieldMonth}, 'b': {fieldMonth}, 'B': {fieldMonth}, 'd': {fieldDay}, 'e': {fieldDay}, 'j': {fieldDayOfYear},
	'a': {fieldWeekday}, 'A': {fieldWeekday}, 'u': {fieldWeekday}, 'w': {fieldWeekday}, 'G': {fieldISOYear}, 'V': {fieldISOWeek},
	'H': {fieldHour}, 'I': {fieldHour12}, 'p': {fieldHalf}, 'M': {fieldMinute}, 'S': {fieldSecond}, 'f': {fieldFraction}, '.': {fieldFraction},
	'z': {fieldOffset}, 's': {fieldUnix}, 'F': {fieldYear, fieldMonth, fieldDay}, 'T': {fieldHour, fieldMinute, fieldSecond},
	'R': {fieldHour, fieldMinute},
}

// Readable says why the format does not name exactly one instant, "" if it does.
// Zoned says that it names no offset, so that reading needs a time zone.
func (f Format) Readable() (zoned bool, why string) {
	var has [fieldCount]bool
	for _, d := range f {
		if d.Code == 'Z' || d.Code == 'Q' {
			return false, fmt.Sprintf("%%%c can only be written", d.Code)
		}
		for _, x := range directiveFields[d.Code] {
			if has[x] {
				return false, "names the " + fieldNames[x] + " twice"
			}
			has[x] = true
		}
	}
	any := func(list ...field) bool {
		for _, x := range list {
			if has[x] {
				return true
			}
		}
		return false
	}
	if has[fieldUnix] {
		for x := range fieldUnix {
			if has[x] && x != fieldFraction {
				return false, "names a Unix time and the " + fieldNames[x]
			}
		}
		return false, ""
	}
	calendar := has[fieldYear] && has[fieldMonth] && has[fieldDay] && !any(fieldDayOfYear, fieldISOYear, fieldISOWeek)
	ordinal := has[fieldYear] && has[fieldDayOfYear] && !any(fieldMonth, fieldDay, fieldISOYear, fieldISOWeek, fieldWeekday)
	weeks := has[fieldISOYear] && has[fieldISOWeek] && has[fieldWeekday] && !any(fieldYear, fieldMonth, fieldDay, fieldDayOfYear)
	hour := has[fieldHour] || has[fieldHour12]
	switch {
	case !calendar && !ordinal && !weeks:
		return false, "names no date: %Y with month and day, %Y %j, %G %V with a weekday, or %s"
	case has[fieldHour] && any(fieldHour12, fieldHalf), has[fieldHour12] != has[fieldHalf]:
		return false, "names the hour neither by %H nor by %I with AM or PM"
	case has[fieldMinute] && !hour, has[fieldSecond] && !has[fieldMinute], has[fieldFraction] && !has[fieldSecond]:
		return false, "names a part of the time of day without the greater one"
	}
	return !has[fieldOffset], ""
}
