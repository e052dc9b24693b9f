package datetime_test

import (
	"strings"
	"testing"

	"plexus/nspl/datetime"
)

func TestZones(t *testing.T) {
	for _, name := range []string{"UTC", "utc", "Europe/Berlin", "europe/berlin", "+00:00", "-23:59", "Asia/Kolkata", "EST5EDT"} {
		if _, ok := datetime.Zone(name); !ok {
			t.Errorf("no zone %s", name)
		}
	}
	for _, name := range []string{"", "Europe", "Europe/", "Europe/Nowhere", "+24:00", "+01:60", "+1:00", "01:00", "+0a:00", "Local"} {
		if _, ok := datetime.Zone(name); ok {
			t.Errorf("zone %s", name)
		}
	}
	if len(datetime.ZoneNames()) < 400 {
		t.Error("zones are missing")
	}
	for _, name := range datetime.ZoneNames() {
		if _, ok := datetime.Zone(name); !ok {
			t.Errorf("%s does not load", name)
		}
	}
}

func TestFormats(t *testing.T) {
	for text, want := range map[string]string{ //plexus:orderfree independent cases
		"%F %T%.f%:z":              "",
		"%a, %d %b %Y %T %z":       "",
		"%G-W%V-%u":                "zone",
		"%Y%j %-H":                 "zone",
		"%s%.f":                    "",
		"%d.%m.%Y %I:%M %p":        "zone",
		"%d.%m.%Y %I:%M":           "names the hour neither by %H nor by %I with AM or PM",
		"%F %H %I %p":              "names the hour neither by %H nor by %I with AM or PM",
		"%Y-%m":                    "names no date: %Y with month and day, %Y %j, %G %V with a weekday, or %s",
		"%F %d":                    "names the day twice",
		"%F %M":                    "names a part of the time of day without the greater one",
		"%F %Z":                    "%Z can only be written",
		"%s %F":                    "names a Unix time and the year",
		"%Y %m %d %j":              "names no date: %Y with month and day, %Y %j, %G %V with a weekday, or %s",
		"%%%n%t%F %T.%3f %::z":     "",
		"%F %R" + "%%%%":           "zone",
		"%F %T %6f%s":              "names a Unix time and the year",
		"%A %Y-%m-%d %H:%M:%S %:z": "",
	} {
		f, err := datetime.ParseFormat(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		zoned, why := f.Readable()
		if zoned {
			why = "zone"
		}
		if why != want {
			t.Errorf("%s: %q, want %q", text, why, want)
		}
	}
	for text, want := range map[string]string{ //plexus:orderfree independent cases
		"%F %y":                  "unknown directive at byte 3",
		"%":                      "unknown directive at byte 0",
		"a%-Y":                   "unknown directive at byte 1",
		"%0f":                    "unknown directive at byte 0",
		"%:::z":                  "unknown directive at byte 0",
		strings.Repeat("x", 257): "a value takes up to 257 bytes, more than 256, at byte 0",
	} {
		if _, err := datetime.ParseFormat(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
