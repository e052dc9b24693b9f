package nats

import (
	"slices"
	"strconv"
	"strings"

	"plexus/connectors/contract"
)

const (
	headerLine = "NATS/1.0\r\n"
	crlf       = "\r\n"
	// headerFieldOverhead is the colon, the space and the line end.
	headerFieldOverhead = 4
)

// messageBytes is what the server compares with its limit: the header block as
// written, and the payload.
func messageBytes(headers []contract.Header, payload []byte) int {
	size := len(payload)
	if len(headers) > 0 {
		size += len(headerLine) + len(crlf)
		for i := range headers {
			size += len(headers[i].Name) + len(headers[i].Value) + headerFieldOverhead
		}
	}
	return size
}

// canonicalHeaders returns the headers as NATS carries them, reusing buf: names
// in lexical order with the values of a name in written order, line breaks
// replaced by spaces, no space around a value. It reports whether every name can
// be carried.
func canonicalHeaders(headers, buf []contract.Header) ([]contract.Header, bool) {
	buf = buf[:0]
	for _, h := range headers {
		if !validHeaderName(h.Name) {
			return nil, false
		}
		buf = append(buf, contract.Header{Name: h.Name, Value: cleanHeaderValue(h.Value)})
	}
	slices.SortStableFunc(buf, func(a, b contract.Header) int { return strings.Compare(a.Name, b.Name) })
	return buf, true
}

func cleanHeaderValue(v string) string {
	v = strings.Trim(v, " \t\r\n")
	if strings.ContainsAny(v, "\r\n") {
		v = strings.NewReplacer("\r", " ", "\n", " ").Replace(v)
	}
	return v
}

// validHeaderName reports whether a name is printable ASCII without a colon.
func validHeaderName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == ':' {
			return false
		}
	}
	return name != ""
}

func tooLarge(size, limit int) string {
	return "message of " + strconv.Itoa(size) + " bytes exceeds the server's max_payload of " + strconv.Itoa(limit)
}
