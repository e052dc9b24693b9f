package datetime_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/nspl/datetime"
	"plexus/nspl/rfc3339"
)

// instant reads an RFC 3339 text.
func instant(t testing.TB, text string) int64 {
	n, verdict := rfc3339.Parse([]byte(text))
	if verdict != rfc3339.OK {
		t.Fatal(text)
	}
	return n
}

func zone(t testing.TB, name string) *time.Location {
	z, ok := datetime.Zone(name)
	if !ok {
		t.Fatal(name)
	}
	return z
}

func unit(t testing.TB, name string) datetime.Unit {
	u, ok := datetime.UnitNamed(name)
	if !ok {
		t.Fatal(name)
	}
	return u
}

// shown writes an instant, or "overflow".
func shown(n int64, ok bool) string {
	if !ok {
		return "overflow"
	}
	return string(rfc3339.Append(nil, n))
}

func TestTrunc(t *testing.T) {
	for _, c := range []struct{ unit, at, zone, want string }{
		{"hour", "2026-02-03T04:05:06.7Z", "UTC", "2026-02-03T04:00:00+00:00"},
		{"hour", "2026-02-03T04:05:06Z", "Asia/Kolkata", "2026-02-03T03:30:00+00:00"},
		{"week", "2026-02-03T04:05:06Z", "UTC", "2026-02-02T00:00:00+00:00"}, {"week", "1969-12-31T00:00:00Z", "UTC", "1969-12-29T00:00:00+00:00"},
		{"month", "2026-02-03T04:05:06Z", "UTC", "2026-02-01T00:00:00+00:00"}, {"quarter", "2026-06-30T00:00:00Z", "UTC", "2026-04-01T00:00:00+00:00"},
		{"year", "2026-06-30T00:00:00Z", "+05:00", "2025-12-31T19:00:00+00:00"}, {"second", "1969-12-31T23:59:59.5Z", "UTC", "1969-12-31T23:59:59+00:00"},
		{"day", "2026-03-29T12:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00+00:00"},
		{"month", "2026-03-30T12:00:00Z", "Europe/Berlin", "2026-02-28T23:00:00+00:00"},
		// Midnight of 2026-09-06 is skipped in Chile: the day begins behind the gap.
		{"day", "2026-09-06T12:00:00Z", "America/Santiago", "2026-09-06T04:00:00+00:00"},
		// 23:00 to 24:00 of 2026-04-04 occurs twice there: it is one day, without interruption.
		{"day", "2026-04-05T03:30:00Z", "America/Santiago", "2026-04-04T03:00:00+00:00"},
		// 2:00 to 3:00 of 2026-10-25 occurs twice in Berlin, one hour after the other.
		{"hour", "2026-10-25T00:30:00Z", "Europe/Berlin", "2026-10-25T00:00:00+00:00"}, {"hour", "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-25T01:00:00+00:00"},
		// Lord Howe sets its clocks by half an hour, in the middle of one.
		{"hour", "2026-04-04T15:10:00Z", "Australia/Lord_Howe", "2026-04-04T15:00:00+00:00"}, {"day", "2026-10-25T12:00:00Z", "Europe/Berlin", "2026-10-24T22:00:00+00:00"},
		{"year", "1677-09-21T00:12:44Z", "UTC", "overflow"}, {"nanosecond", "1677-09-21T00:12:43.145224192Z", "UTC", "1677-09-21T00:12:43.145224192+00:00"},
	} {
		n, ok := unit(t, c.unit).Trunc(instant(t, c.at), zone(t, c.zone))
		if got := shown(n, ok); got != c.want {
			t.Errorf("%s of %s in %s: %s, want %s", c.unit, c.at, c.zone, got, c.want)
		}
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		unit           string
		n              int64
		at, zone, want string
	}{
		{"month", 1, "2026-01-31T10:00:00Z", "UTC", "2026-02-28T10:00:00+00:00"}, {"month", -1, "2024-03-31T10:00:00Z", "UTC", "2024-02-29T10:00:00+00:00"},
		{"year", 1, "2024-02-29T00:00:00Z", "UTC", "2025-02-28T00:00:00+00:00"}, {"quarter", -5, "2026-05-31T00:00:00Z", "UTC", "2025-02-28T00:00:00+00:00"},
		{"day", 1, "2026-03-28T11:00:00Z", "Europe/Berlin", "2026-03-29T10:00:00+00:00"}, {"hour", 24, "2026-03-28T11:00:00Z", "Europe/Berlin", "2026-03-29T11:00:00+00:00"},
		// 2:30 does not occur on that day, and twice on the other.
		{"day", 1, "2026-03-28T01:30:00Z", "Europe/Berlin", "2026-03-29T01:30:00+00:00"}, {"day", 1, "2026-10-24T00:30:00Z", "Europe/Berlin", "2026-10-25T00:30:00+00:00"},
		{"week", -1, "2026-01-01T00:00:00Z", "UTC", "2025-12-25T00:00:00+00:00"},
		{"nanosecond", 1, "2262-04-11T23:47:16.854775807Z", "UTC", "overflow"}, {"year", 300, "2026-01-01T00:00:00Z", "UTC", "overflow"},
		{"month", math.MaxInt64, "2026-01-01T00:00:00Z", "UTC", "overflow"}, {"week", math.MinInt64, "2026-01-01T00:00:00Z", "UTC", "overflow"},
		{"hour", math.MaxInt64, "2026-01-01T00:00:00Z", "UTC", "overflow"}, {"second", -9223372036, "1970-01-01T00:00:00Z", "UTC", "1677-09-21T00:12:44+00:00"},
	} {
		n, ok := unit(t, c.unit).Add(c.n, instant(t, c.at), zone(t, c.zone))
		if got := shown(n, ok); got != c.want {
			t.Errorf("%s and %d %ss in %s: %s, want %s", c.at, c.n, c.unit, c.zone, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		unit, a, b, zone string
		want             int64
	}{
		{"month", "2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z", "UTC", 0}, {"month", "2026-01-31T00:00:00Z", "2026-03-01T00:00:00Z", "UTC", 1},
		{"month", "2026-03-31T00:00:00Z", "2026-02-28T00:00:00Z", "UTC", -1}, {"month", "2026-03-15T12:00:00Z", "2026-01-15T13:00:00Z", "UTC", -1},
		{"year", "2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z", "UTC", 0}, {"quarter", "2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z", "UTC", 3},
		{"day", "2026-03-28T11:00:00Z", "2026-03-29T10:00:00Z", "Europe/Berlin", 1}, {"day", "2026-03-28T11:00:00Z", "2026-03-29T09:59:59Z", "Europe/Berlin", 0},
		{"day", "2026-10-25T00:50:00Z", "2026-10-25T01:10:00Z", "Europe/Berlin", 0}, {"week", "2026-01-01T00:00:00Z", "2025-12-25T00:00:00Z", "UTC", -1},
		{"hour", "2026-01-01T00:00:00Z", "2025-12-31T22:30:00Z", "UTC", -1},
	} {
		if n, ok := unit(t, c.unit).Diff(instant(t, c.a), instant(t, c.b), zone(t, c.zone)); !ok || n != c.want {
			t.Errorf("%ss from %s to %s: %d, want %d", c.unit, c.a, c.b, n, c.want)
		}
	}
	if _, ok := datetime.Nanosecond.Diff(math.MinInt64, 1, time.UTC); ok {
		t.Error("2^63+1 nanoseconds fit")
	}
	if n, ok := datetime.Nanosecond.Diff(0, math.MinInt64, time.UTC); !ok || n != math.MinInt64 {
		t.Errorf("%d %t", n, ok)
	}
}

func TestParts(t *testing.T) {
	at := instant(t, "2027-01-03T23:04:05.006007008Z") // a Sunday of ISO week 53 of 2026
	want := map[string]int64{"year": 2027, "quarter": 1, "month": 1, "day": 3, "hour": 23, "minute": 4, "second": 5, "millisecond": 6, "microsecond": 6007,
		"nanosecond": 6007008, "day_of_week": 0, "day_of_year": 3, "iso_year": 2026, "iso_week": 53, "iso_day_of_week": 7}
	for _, name := range datetime.Parts() {
		p, _ := datetime.PartNamed(name)
		if got := p.Of(at, time.UTC); got != want[name] {
			t.Errorf("%s is %d, want %d", name, got, want[name])
		}
	}
	if got := datetime.PartHour.Of(instant(t, "2026-01-01T00:00:00Z"), zone(t, "Asia/Kolkata")); got != 5 {
		t.Errorf("hour %d", got)
	}
	if n := datetime.Hour.ToUnix(-1); n != -1 {
		t.Errorf("the hour before 1970 is %d", n)
	}
	if _, ok := datetime.Day.FromUnix(200_000); ok {
		t.Error("200,000 days fit")
	}
	if n, ok := datetime.Bin(900e9, instant(t, "2026-01-01T00:14:59Z"), instant(t, "2026-01-01T00:05:00Z")); shown(n, ok) != "2026-01-01T00:05:00+00:00" {
		t.Error(shown(n, ok))
	}
	if _, ok := datetime.Bin(math.MaxInt64, math.MinInt64, 0); ok {
		t.Error("a bin begins before the range")
	}
}

var zoneNames = []string{"UTC", "Europe/Berlin", "America/Santiago", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "-03:30", "Africa/Casablanca"}

// TestTruncLaws: the begin of a unit is not behind the instant, all between them
// show the same unit, and what is before it another one.
func TestTruncLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, _ := datetime.Zone(rapid.SampledFrom(zoneNames).Draw(t, "zone"))
		u, _ := datetime.UnitNamed(rapid.SampledFrom(datetime.Units(false)).Draw(t, "unit"))
		at := rapid.Int64Range(-2e18, 4e18).Draw(t, "at")
		start, ok := u.Trunc(at, z)
		if !ok || start > at {
			t.Fatalf("%d of %d", start, at)
		}
		if again, ok := u.Trunc(start, z); !ok || again != start {
			t.Fatalf("the begin %d begins at %d", start, again)
		}
		between := start + rapid.Int64Range(0, at-start).Draw(t, "between")
		if same, _ := u.Trunc(between, z); same != start {
			t.Fatalf("%d of %d, %d of %d", start, at, same, between)
		}
		if before, _ := u.Trunc(start-1, z); before >= start {
			t.Fatalf("what is before %d begins at %d", start, before)
		}
	})
}

// TestDiffIsComplete: so many fixed units later is not beyond, one more is.
func TestDiffIsComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, _ := datetime.Zone(rapid.SampledFrom(zoneNames).Draw(t, "zone"))
		u, _ := datetime.UnitNamed(rapid.SampledFrom([]string{"second", "minute", "hour", "day", "week"}).Draw(t, "unit"))
		a, b := rapid.Int64Range(-2e18, 4e18).Draw(t, "a"), rapid.Int64Range(-2e18, 4e18).Draw(t, "b")
		a, b = min(a, b), max(a, b)
		n, ok := u.Diff(a, b, z)
		if !ok || n < 0 {
			t.Fatal(n, ok)
		}
		// Where clocks are set the time of day may be another one by the gap.
		const slack = int64(2 * time.Hour)
		if last, ok := u.Add(n, a, z); !ok || last > b+slack {
			t.Fatalf("%d %ss after %d is %d, beyond %d", n, u, a, last, b)
		}
		if next, ok := u.Add(n+1, a, z); ok && next <= b-slack {
			t.Fatalf("%d %ss after %d is %d, not beyond %d", n+1, u, a, next, b)
		}
	})
}
