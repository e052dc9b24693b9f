package rfc3339

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		v    Verdict
	}{
		{"1970-01-01T00:00:00Z", 0, OK},
		{"1970-01-01t00:00:00z", 0, OK},
		{"1970-01-01 00:00:00.000000001+00:00", 1, OK},
		{"1969-12-31T23:59:59.5Z", -500_000_000, OK},
		{"1970-01-01T01:30:00+01:30", 0, OK},
		{"2262-04-11T23:47:16.854775807Z", math.MaxInt64, OK},
		{"2262-04-11T23:47:16.854775808Z", 0, Range},
		{"1677-09-21T00:12:43.145224192Z", math.MinInt64, OK},
		{"1677-09-21T00:12:43.145224191Z", 0, Range},
		{"9999-12-31T23:59:59Z", 0, Range},
		{"0000-01-01T00:00:00Z", 0, Range},
		{"2024-02-29T00:00:00Z", 1709164800_000000000, OK},
		{"2023-02-29T00:00:00Z", 0, Invalid},
		{"1900-02-29T00:00:00Z", 0, Invalid},
		{"2016-12-31T23:59:60Z", 0, Invalid},
		{"2016-12-31T24:00:00Z", 0, Invalid},
		{"2016-12-31T23:59:59.Z", 0, Invalid},
		{"2016-12-31T23:59:59.0123456789Z", 0, Invalid},
		{"2016-12-31T23:59:59", 0, Invalid},
		{"2016-12-31T23:59:59+0100", 0, Invalid},
		{"2016-12-31T23:59:59+24:00", 0, Invalid},
		{"2016-13-01T00:00:00Z", 0, Invalid},
		{"2016-00-01T00:00:00Z", 0, Invalid},
		{"2016-01-01T00:00:00Z ", 0, Invalid},
		{"+016-01-01T00:00:00Z", 0, Invalid},
		{"", 0, Invalid},
	} {
		if got, v := Parse([]byte(c.text)); got != c.want || v != c.v {
			t.Errorf("Parse(%q) = %d, %d, want %d, %d", c.text, got, v, c.want, c.v)
		}
	}
}

func TestAppendAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.Int64().Draw(t, "nanos")
		text := string(Append(nil, nanos))
		if len(text) > LengthMax {
			t.Fatalf("%q is longer than LengthMax", text)
		}
		got, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || got.UnixNano() != nanos {
			t.Fatalf("Append(%d) = %q, which time reads as %d, %v", nanos, text, got.UnixNano(), err)
		}
		if back, v := Parse([]byte(text)); back != nanos || v != OK {
			t.Fatalf("Parse(Append(%d)) = %d, %d", nanos, back, v)
		}
	})
}

func TestAppendFractions(t *testing.T) {
	for _, c := range []struct {
		nanos int64
		want  string
	}{
		{0, "1970-01-01T00:00:00+00:00"},
		{1, "1970-01-01T00:00:00.000000001+00:00"},
		{120_000, "1970-01-01T00:00:00.000120+00:00"},
		{500_000_000, "1970-01-01T00:00:00.500+00:00"},
		{-1, "1969-12-31T23:59:59.999999999+00:00"},
	} {
		if got := string(Append(nil, c.nanos)); got != c.want {
			t.Errorf("Append(%d) = %q, want %q", c.nanos, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("2024-02-29T12:34:56.789+02:00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		nanos, v := Parse(text)
		if v != OK {
			return
		}
		if back, v := Parse(Append(nil, nanos)); back != nanos || v != OK {
			t.Fatalf("%q reads as %d, which is written and read as %d", text, nanos, back)
		}
	})
}
