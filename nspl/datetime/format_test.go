package datetime_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/nspl/datetime"
)

func format(t testing.TB, text string) datetime.Format {
	f, err := datetime.ParseFormat(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return f
}

func TestWrite(t *testing.T) {
	for _, c := range []struct{ format, at, zone, want string }{
		{"%Y-%m-%d %H:%M:%S", "2026-02-03T04:05:06Z", "UTC", "2026-02-03 04:05:06"}, {"%-d.%-m.%Y %-H:%-M", "2026-02-03T04:05:06Z", "UTC", "3.2.2026 4:5"},
		{"%b %B %a %A %u %w", "2026-02-03T04:05:06Z", "UTC", "Feb February Tue Tuesday 2 2"}, {"%u %w", "2026-02-01T00:00:00Z", "UTC", "7 0"},
		{"%e|%j|%-j|%G-W%V", "2026-02-03T04:05:06Z", "UTC", " 3|034|34|2026-W06"}, {"%I %p %-I", "2026-02-03T00:05:06Z", "UTC", "12 AM 12"}, {"%I%p", "2026-02-03T13:05:06Z", "UTC", "01PM"},
		{"%f %3f %1f", "2026-02-03T04:05:06.0789Z", "UTC", "078900000 078 0"}, {"%S%.f", "2026-02-03T04:05:06.5Z", "UTC", "06.500"}, {"%S%.f", "2026-02-03T04:05:06Z", "UTC", "06"},
		{"%S%.f", "2026-02-03T04:05:06.0000001Z", "UTC", "06.000000100"}, {"%z %:z %::z %Z %Q", "2026-07-03T04:05:06Z", "Europe/Berlin", "+0200 +02:00 +02:00:00 CEST Europe/Berlin"},
		{"%z", "2026-07-03T04:05:06Z", "-03:30", "-0330"}, {"%s", "1969-12-31T23:59:59.5Z", "UTC", "-1"}, {"%F %T %R%%%n%t", "2026-02-03T04:05:06Z", "UTC", "2026-02-03 04:05:06 04:05%\n\t"},
		{"é %Y", "1677-09-21T00:12:43.145224192Z", "UTC", "é 1677"},
	} {
		if got := string(format(t, c.format).Append(nil, instant(t, c.at), zone(t, c.zone))); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.format, c.at, got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ format, text, zone, how, want string }{
		{"%Y-%m-%d", "2026-02-03", "UTC", "", "2026-02-03T00:00:00+00:00"}, {"%F", "2026-02-29", "UTC", "", "no match"}, {"%F", "2024-02-29", "UTC", "", "2024-02-29T00:00:00+00:00"},
		{"%F", "2026-2-03", "UTC", "", "no match"}, {"%F", "2026-02-03 ", "UTC", "", "no match"}, {"%F", "", "UTC", "", "no match"}, {"%F", "2026-13-01", "UTC", "", "no match"},
		{"%-d.%-m.%Y", "3.2.2026", "UTC", "", "2026-02-03T00:00:00+00:00"}, {"%-d.%-m.%Y", "03.2.2026", "UTC", "", "no match"},
		{"%e %b %Y", " 3 feb 2026", "UTC", "", "2026-02-03T00:00:00+00:00"}, {"%e %B %Y", "13 FEBRUARY 2026", "UTC", "", "2026-02-13T00:00:00+00:00"}, {"%e %b %Y", "3 feb 2026", "UTC", "", "no match"},
		{"%Y-%j", "2026-034", "UTC", "", "2026-02-03T00:00:00+00:00"}, {"%Y-%j", "2026-366", "UTC", "", "no match"}, {"%Y-%j", "2024-366", "UTC", "", "2024-12-31T00:00:00+00:00"},
		{"%G-W%V-%u", "2026-W53-7", "UTC", "", "2027-01-03T00:00:00+00:00"}, {"%G-W%V-%u", "2025-W53-1", "UTC", "", "no match"}, {"%G %V %w", "2026 01 0", "UTC", "", "2026-01-04T00:00:00+00:00"},
		{"%a %F", "Tue 2026-02-03", "UTC", "", "2026-02-03T00:00:00+00:00"}, {"%a %F", "Wed 2026-02-03", "UTC", "", "no match"}, {"%A %F", "tuesday 2026-02-03", "UTC", "", "2026-02-03T00:00:00+00:00"},
		{"%F %I:%M %p", "2026-02-03 12:05 am", "UTC", "", "2026-02-03T00:05:00+00:00"}, {"%F %I:%M %p", "2026-02-03 01:05 PM", "UTC", "", "2026-02-03T13:05:00+00:00"}, {"%F %I:%M %p", "2026-02-03 13:05 PM", "UTC", "", "no match"},
		{"%F %T", "2026-02-03 04:05:60", "UTC", "", "no match"}, {"%F %T.%3f", "2026-02-03 04:05:06.078", "UTC", "", "2026-02-03T04:05:06.078+00:00"}, {"%F %T.%3f", "2026-02-03 04:05:06.07", "UTC", "", "no match"},
		{"%F %T%.f", "2026-02-03 04:05:06.5", "UTC", "", "2026-02-03T04:05:06.500+00:00"}, {"%F %T%.f", "2026-02-03 04:05:06", "UTC", "", "2026-02-03T04:05:06+00:00"}, {"%F %T%.f", "2026-02-03 04:05:06.", "UTC", "", "no match"},
		{"%F %T%z", "2026-02-03 04:05:06-0330", "", "", "2026-02-03T07:35:06+00:00"}, {"%F %T%:z", "2026-02-03 04:05:06+01:00", "", "", "2026-02-03T03:05:06+00:00"}, {"%F %T%:z", "2026-02-03 04:05:06Z", "", "", "no match"},
		{"%s", "-1", "", "", "1969-12-31T23:59:59+00:00"}, {"%s.%3f", "1.500", "", "", "1970-01-01T00:00:01.500+00:00"}, {"%s", "99999999999999999999", "", "", "out of range"}, {"%s", "x", "", "", "no match"},
		{"%F", "9999-01-01", "UTC", "", "out of range"}, {"%F", "0000-01-01", "UTC", "", "out of range"},
		{"%F %R", "2026-03-29 02:30", "Europe/Berlin", "", "no instant"}, {"%F %R", "2026-03-29 02:30", "Europe/Berlin", "later", "2026-03-29T01:30:00+00:00"},
		{"%F %R", "2026-03-29 02:30", "Europe/Berlin", "earlier", "2026-03-29T00:30:00+00:00"}, {"%F %R", "2026-03-29 02:30", "Europe/Berlin", "compatible", "2026-03-29T01:30:00+00:00"},
		{"%F %R", "2026-10-25 02:30", "Europe/Berlin", "", "no instant"}, {"%F %R", "2026-10-25 02:30", "Europe/Berlin", "earlier", "2026-10-25T00:30:00+00:00"},
		{"%F %R", "2026-10-25 02:30", "Europe/Berlin", "later", "2026-10-25T01:30:00+00:00"}, {"%F %R", "2026-10-25 02:30", "Europe/Berlin", "compatible", "2026-10-25T00:30:00+00:00"},
		{"%F %R", "2011-12-30 12:00", "Pacific/Apia", "", "no instant"}, {"%F %R", "2026-02-03 04:05", "Asia/Kolkata", "", "2026-02-02T22:35:00+00:00"},
		{"%n%F%%", "\n2026-02-03%", "UTC", "", "2026-02-03T00:00:00+00:00"},
	} {
		z := time.UTC
		if c.zone != "" {
			z = zone(t, c.zone)
		}
		how, _ := datetime.DisambiguationNamed(c.how)
		n, verdict := format(t, c.format).Parse([]byte(c.text), z, how)
		got := [...]string{datetime.NoMatch: "no match", datetime.NoInstant: "no instant", datetime.OutOfRange: "out of range"}
		text := ""
		if verdict == datetime.Read {
			text = shown(n, true)
		} else {
			text = got[verdict]
		}
		if text != c.want {
			t.Errorf("%q by %q: %s, want %s", c.text, c.format, text, c.want)
		}
	}
}

// TestWhatIsWrittenReadsBack: every readable format reads what it writes.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	dates := []string{"%F", "%Y-%m-%d", "%-d.%-m.%Y", "%e %B %Y", "%b %d %Y, %A", "%Y/%j", "%Y.%-j", "%G-W%V-%u", "%G %-V %a"}
	times := []string{"%T", "%H:%M:%S", "%-H.%-M.%-S", "%I:%M:%S %p", "%-I %p %M:%S"}
	fractions := []string{"", "%.f", " %f", ",%3f", " %9f"}
	digits := []time.Duration{time.Second, 1, 1, time.Millisecond, 1}
	rapid.Check(t, func(t *rapid.T) {
		fraction := rapid.IntRange(0, len(fractions)-1).Draw(t, "fraction")
		text := rapid.SampledFrom(dates).Draw(t, "date") + " " + rapid.SampledFrom(times).Draw(t, "time") + fractions[fraction]
		name := rapid.SampledFrom(zoneNames).Draw(t, "zone")
		z, _ := datetime.Zone(name)
		if offset := rapid.SampledFrom([]string{"", "%::z"}).Draw(t, "offset"); offset != "" {
			text += offset
		}
		f, err := datetime.ParseFormat(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, why := f.Readable(); why != "" {
			t.Fatal(why)
		}
		at := rapid.Int64().Draw(t, "at")
		at -= at % int64(digits[fraction])
		written := f.Append(nil, at, z)
		if len(written) > f.Longest() {
			t.Fatalf("%q is longer than %d", written, f.Longest())
		}
		back, verdict := f.Parse(written, z, datetime.Earlier)
		if verdict == datetime.Read && back != at {
			// Of a time that occurs twice the earlier instant is read.
			back, verdict = f.Parse(written, z, datetime.Later)
		}
		if verdict != datetime.Read || back != at {
			t.Fatalf("%q of %d in %s reads as %d, %d", written, at, name, back, verdict)
		}
		if _, verdict := f.Parse(append(written, 'x'), z, datetime.Earlier); verdict != datetime.NoMatch {
			t.Fatal("a text with something behind it reads")
		}
		if cut := written[:len(written)-1]; !strings.HasSuffix(string(written), "0") && fraction != 1 {
			if n, verdict := f.Parse(cut, z, datetime.Earlier); verdict == datetime.Read && n == at {
				t.Fatalf("%q reads like %q", cut, written)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("%F %T%.f%:z", "2026-02-03 04:05:06.5+01:00")
	f.Add("%G-W%V-%u %I %p", "2026-W53-7 12 am")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		format, err := datetime.ParseFormat(pattern)
		if err != nil {
			return
		}
		if _, why := format.Readable(); why != "" {
			return
		}
		n, verdict := format.Parse([]byte(text), time.UTC, datetime.Reject)
		if verdict != datetime.Read {
			return
		}
		if again, verdict := format.Parse(format.Append(nil, n, time.UTC), time.UTC, datetime.Reject); verdict == datetime.Read && again > n {
			t.Fatalf("%q reads as %d, and what that writes as %d", text, n, again)
		}
	})
}
