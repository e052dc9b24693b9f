package http

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParseHead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     head
		err      error
	}{
		{"plain", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", head{status: 200}, nil},
		{"no reason", "HTTP/1.1 204\r\n\r\n", head{status: 204}, nil},
		{"empty reason", "HTTP/1.0 204 \r\n\r\n", head{status: 204}, nil},
		{"bare line feeds", "HTTP/1.1 200 OK\nA:b\n\n", head{status: 200}, nil},
		{"retry after", "HTTP/1.1 429 x\r\nretry-AFTER: \t7 \r\n\r\n", head{429, "7"}, nil},
		{"two retry afters", "HTTP/1.1 429 x\r\nRetry-After: 7\r\nRetry-After: 7\r\n\r\n", head{status: 429}, nil},
		{"equal lengths", "HTTP/1.1 200 x\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\n", head{status: 200}, nil},
		{"chunked", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n", head{status: 200}, nil},
		{"version", "HTTP/2 200 OK\r\n\r\n", head{}, errHeadMalformed},
		{"short status", "HTTP/1.1 20\r\n\r\n", head{}, errHeadMalformed},
		{"long status", "HTTP/1.1 2000\r\n\r\n", head{}, errHeadMalformed},
		{"signed status", "HTTP/1.1 +20 x\r\n\r\n", head{}, errHeadMalformed},
		{"status out of range", "HTTP/1.1 600 x\r\n\r\n", head{}, errHeadMalformed},
		{"no colon", "HTTP/1.1 200 x\r\nA\r\n\r\n", head{}, errHeadMalformed},
		{"space before the colon", "HTTP/1.1 200 x\r\nA : b\r\n\r\n", head{}, errHeadMalformed},
		{"continued line", "HTTP/1.1 200 x\r\nA: b\r\n c\r\n\r\n", head{}, errHeadMalformed},
		{"control in a value", "HTTP/1.1 200 x\r\nA: b\x01\r\n\r\n", head{}, errHeadMalformed},
		{"carriage return inside", "HTTP/1.1 200 x\r\nA: b\rc\r\n\r\n", head{}, errHeadMalformed},
		{"no end", "HTTP/1.1 200 x\r\nA: b\r\n", head{}, errHeadMalformed},
		{"different lengths", "HTTP/1.1 200 x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", head{}, errHeadFraming},
		{"length is no number", "HTTP/1.1 200 x\r\nContent-Length: five\r\n\r\n", head{}, errHeadFraming},
		{"length beyond 64 bits", "HTTP/1.1 200 x\r\nContent-Length: 99999999999999999999\r\n\r\n", head{}, errHeadFraming},
		{"empty length", "HTTP/1.1 200 x\r\nContent-Length:\r\n\r\n", head{}, errHeadFraming},
		{"both framings", "HTTP/1.1 200 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", head{}, errHeadFraming},
		{"chunked twice", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", head{}, errHeadFraming},
		{"chunked not last", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", head{}, errHeadFraming},
		{"many fields", "HTTP/1.1 200 x\r\n" + strings.Repeat("A: b\r\n", 128) + "\r\n", head{status: 200}, nil},
		{"too many fields", "HTTP/1.1 200 x\r\n" + strings.Repeat("A: b\r\n", 129) + "\r\n", head{}, errHeadTooLarge},
		{"too large", "HTTP/1.1 200 x\r\nA: " + strings.Repeat("b", 64<<10) + "\r\n\r\n", head{}, errHeadTooLarge},
	} {
		got, err := parseHead([]byte(c.in))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, got, err, c.want, c.err)
		}
	}
}

// However a head arrives in pieces, its end is found at the same place.
func TestHeadEnd(t *testing.T) {
	for _, in := range []string{"HTTP/1.1 200 x\r\nA: b\r\n\r\nbody\r\n\r\n", "HTTP/1.1 200 x\nA: b\n\nbody", "x\r\n\n", "\n\n", "a\n\r\n"} {
		want := headEnd([]byte(in), 0)
		for cut := range in {
			if end := headEnd([]byte(in[:cut]), 0); end > 0 {
				if end != want {
					t.Errorf("%q cut at %d ends at %d, want %d", in, cut, end, want)
				}
			} else if end := headEnd([]byte(in), cut-headEndSlack); end != want {
				t.Errorf("%q searched to %d ends at %d, want %d", in, cut, end, want)
			}
		}
	}
}

// A head this parser believes is one that net/http reads with the same status.
func FuzzParseHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 103 \nA:b\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		end := headEnd(in, 0)
		if end == 0 {
			return
		}
		got, err := parseHead(in[:end])
		if err != nil || bytes.Contains(bytes.ToLower(in), []byte("transfer-encoding")) {
			return // net/http knows no coding but chunked
		}
		want, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(in[:end])), nil)
		if err != nil {
			t.Fatalf("%q was believed: %v", in[:end], err)
		}
		if want.StatusCode != got.status {
			t.Fatalf("%q: status %d, want %d", in[:end], got.status, want.StatusCode)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	for _, c := range []struct {
		in   string
		want time.Duration
	}{
		{"0", 0},
		{"120", 2 * time.Minute},
		{"007", 7 * time.Second},
		{"Sun, 01 Mar 2026 12:01:00 GMT", time.Minute - 500},
		{"Sunday, 01-Mar-26 12:01:00 GMT", time.Minute - 500},
		{"Sun Mar  1 12:01:00 2026", time.Minute - 500},
		{"Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 0}, // 2094 would be more than 50 years ahead
		{"", 0}, {"-1", 0}, {"+5", 0}, {"5.0", 0}, {" 5", 0}, {"5, 6", 0}, {"soon", 0}, {"٣", 0},
		{"99999999999999999999", 0},
		{"18446744073709551615", 0},
		{"7500000000", 0}, // ends after 2262
		{"Sun, 01 Mar 2026 12:01:00.5 GMT", 0},
		{"Sun, 1 Mar 2026 12:01:00 GMT", 0},
		{"Sun, 01 Mar 2026 12:01:00 UTC", 0},
		{"Sun, 01 Mar 9999 12:01:00 GMT", 0},
		{"Sun, 30 Feb 2026 12:01:00 GMT", 0},
	} {
		if got := retryAfter(c.in, now); got != c.want {
			t.Errorf("%q: %v, want %v", c.in, got, c.want)
		}
	}
	if got := retryAfter("7451005000", now); got <= 0 {
		t.Errorf("a wait that ends in 2262 is %v", got)
	}
}

func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, s := range []string{"120", "Sun, 01 Mar 2026 12:01:00 GMT", "Sunday, 01-Mar-26 12:01:00 GMT", "Sun Mar  1 12:01:00 2026"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		d := retryAfter(in, now)
		if d < 0 {
			t.Fatalf("%q waits %v", in, d)
		}
		// Whatever else it is, a date that is honoured is one net/http understands.
		if at, err := http.ParseTime(in); d > 0 && err == nil && at.Year() < 2069 && at.Sub(now) != d && len(in) == len(imfFixdate) {
			t.Fatalf("%q: %v, want %v", in, d, at.Sub(now))
		}
	})
}
