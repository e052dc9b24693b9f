package datetime

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"strings"
	"time"
)

// Release is the tzdata release that is embedded.
const Release = "2025c"

//go:embed zoneinfo.zip
var zoneinfo []byte

// zones are the files of the release, one for each zone.
var zones = func() (files []*zip.File) {
	r, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return nil // the tests look that the embedded file is sound
	}
	for _, f := range r.File {
		if !f.FileInfo().IsDir() {
			files = append(files, f)
		}
	}
	return files
}()

// Zone returns the time zone with a name: UTC, an IANA name in any case, or an
// offset ±HH:MM up to 23:59.
func Zone(name string) (*time.Location, bool) {
	if strings.EqualFold(name, "UTC") {
		return time.UTC, true
	}
	if seconds, ok := offset(name); ok {
		return time.FixedZone(name, seconds), true
	}
	for _, f := range zones {
		if strings.EqualFold(f.Name, name) {
			return load(f)
		}
	}
	return nil, false
}

// ZoneNames lists the IANA names.
func ZoneNames() []string {
	names := make([]string, len(zones))
	for i, f := range zones {
		names[i] = f.Name
	}
	return names
}

func load(f *zip.File) (*time.Location, bool) {
	r, err := f.Open()
	if err != nil {
		return nil, false
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, false
	}
	location, err := time.LoadLocationFromTZData(f.Name, data)
	return location, err == nil
}

// offset reads ±HH:MM.
func offset(text string) (seconds int, ok bool) {
	if len(text) != len("+00:00") || text[0] != '+' && text[0] != '-' || text[3] != ':' {
		return 0, false
	}
	hours, ok1 := twoDigits(text[1:3])
	minutes, ok2 := twoDigits(text[4:6])
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}
	seconds = hours*3600 + minutes*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

func twoDigits(text string) (int, bool) {
	a, b := text[0]-'0', text[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}
