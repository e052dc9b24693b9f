package http

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"plexus/connectors/contract"
)

// request is one complete request with a declared length, which is what the
// product sends.
type request struct {
	method, target string
	headers        []contract.Header
	body           []byte
}

// readRequest reads a request to its end.
func readRequest(from io.Reader) (request, bool) {
	buf := make([]byte, 0, 1<<10)
	end := -1
	for end < 0 {
		if !readMore(from, &buf) {
			return request{}, false
		}
		end = bytes.Index(buf, []byte("\r\n\r\n"))
	}
	lines := strings.Split(string(buf[:end]), "\r\n")
	first := strings.Split(lines[0], " ")
	if len(first) != 3 {
		return request{}, false
	}
	r := request{method: first[0], target: first[1]}
	length := 0
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		r.headers = append(r.headers, contract.Header{Name: name, Value: value})
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return request{}, false
			}
			length = n
		}
	}
	start := end + len("\r\n\r\n")
	for len(buf) < start+length {
		if !readMore(from, &buf) {
			return request{}, false
		}
	}
	r.body = buf[start : start+length]
	return r, true
}

func readMore(from io.Reader, buf *[]byte) bool {
	b := *buf
	if len(b) == cap(b) {
		b = append(b, 0)[:len(b)]
	}
	n, _ := from.Read(b[len(b):cap(b)])
	*buf = b[:len(b)+n]
	return n > 0
}
