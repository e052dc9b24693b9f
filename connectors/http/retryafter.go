package http

import (
	"math"
	"strings"
	"time"
)

// retryAfter reads a Retry-After field against UTC at its receipt: whole seconds,
// or a date in one of the three forms of HTTP. A date in the past means zero.
// Anything else, and a wait that ends after the last representable nanosecond in
// 2262, is no wish.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, ok := decimal(value); ok {
		// The last instant is in nanoseconds, so whole seconds up to it fit.
		if left := math.MaxInt64/int64(time.Second) - max(now.Unix(), 0); left <= 0 || seconds >= uint64(left) {
			return 0
		}
		return time.Duration(seconds) * time.Second
	}
	at, ok := parseDate(value, now)
	if !ok || at.Before(now) || at.Unix() >= math.MaxInt64/int64(time.Second) {
		return 0
	}
	return at.Sub(now)
}

// The date forms. Package time tolerates fractions of a second and single digits
// where these forms have none, so the length is checked as well.
const (
	imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"
	asctime    = "Mon Jan _2 15:04:05 2006"
	rfc850Tail = ", 02-Jan-06 15:04:05 GMT"
)

func parseDate(value string, now time.Time) (time.Time, bool) {
	layout := ""
	switch comma := strings.IndexByte(value, ','); {
	case comma < 0 && len(value) == len(asctime):
		layout = asctime
	case comma == len("Mon") && len(value) == len(imfFixdate):
		layout = imfFixdate
	case comma > 0 && len(value) == comma+len(rfc850Tail):
		layout = "Monday" + rfc850Tail
	default:
		return time.Time{}, false
	}
	at, err := time.Parse(layout, value)
	if err != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(layout, "Monday") {
		at = nearestCentury(at, now)
	}
	return at, true
}

// nearestCentury moves a date of a two-digit year into the century of now, or
// into the one before it where it would be more than 50 years ahead (RFC 9110).
func nearestCentury(at, now time.Time) time.Time {
	at = at.AddDate(now.Year()/100*100+at.Year()%100-at.Year(), 0, 0)
	if at.After(now.AddDate(50, 0, 0)) {
		at = at.AddDate(-100, 0, 0)
	}
	return at
}
