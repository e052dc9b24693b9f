package http

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Limits of one response head, interim or final.
const (
	headBytesMax  = 64 << 10
	headFieldsMax = 128
)

// What a head can be refused for (H3).
var (
	errHeadTooLarge  = errors.New("response head exceeds 64 KiB or 128 fields")
	errHeadMalformed = errors.New("response head is malformed")
	errHeadFraming   = errors.New("response head has invalid body framing")
)

// head is what the sink reads of a response head.
type head struct {
	status     int
	retryAfter string // the one Retry-After field; "" for none or several
}

// interim reports a head that another one follows. 101 is final: nothing was
// upgraded.
func (h head) interim() bool { return h.status < 200 && h.status != 101 }

// headEnd returns the length of the head at the front of b, its empty line
// included, or 0 while the end has not arrived. Everything before from has been
// searched already.
func headEnd(b []byte, from int) int {
	for i := max(from, 0); i < len(b); i++ {
		lf := bytes.IndexByte(b[i:], '\n')
		if lf < 0 {
			return 0
		}
		i += lf
		switch rest := b[i+1:]; {
		case len(rest) >= 1 && rest[0] == '\n':
			return i + 2
		case len(rest) >= 2 && rest[0] == '\r' && rest[1] == '\n':
			return i + 3
		}
	}
	return 0
}

// headEndSlack is how far before the end of the searched bytes an end of head may
// have begun.
const headEndSlack = len("\n\r\n")

// parseHead reads one complete head.
func parseHead(b []byte) (head, error) {
	if len(b) > headBytesMax {
		return head{}, errHeadTooLarge
	}
	text := string(b)
	line, text, ok := cutLine(text)
	if !ok {
		return head{}, errHeadMalformed
	}
	status, ok := statusOf(line)
	if !ok {
		return head{}, errHeadMalformed
	}
	h := head{status: status}
	var framing framing
	retryAfters := 0
	for fields := 0; ; fields++ {
		line, text, ok = cutLine(text)
		switch {
		case !ok:
			return head{}, errHeadMalformed
		case line == "" && text != "":
			return head{}, errHeadMalformed // bytes of the body are not part of a head
		case line == "":
			if !framing.valid() {
				return head{}, errHeadFraming
			}
			if retryAfters > 1 {
				h.retryAfter = ""
			}
			return h, nil
		case fields == headFieldsMax:
			return head{}, errHeadTooLarge
		}
		name, value, ok := cutField(line)
		if !ok {
			return head{}, errHeadMalformed
		}
		switch {
		case strings.EqualFold(name, "Retry-After"):
			retryAfters++
			h.retryAfter = value
		case strings.EqualFold(name, "Content-Length"):
			framing.length(value)
		case strings.EqualFold(name, "Transfer-Encoding"):
			framing.encoding(value)
		}
	}
}

func cutLine(text string) (line, rest string, ok bool) {
	line, rest, ok = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest, ok
}

// statusOf reads "HTTP/1.x NNN[ reason]".
func statusOf(line string) (int, bool) {
	const version, digits = len("HTTP/1.1 "), 3
	if !strings.HasPrefix(line, "HTTP/1.1 ") && !strings.HasPrefix(line, "HTTP/1.0 ") {
		return 0, false
	}
	if len(line) < version+digits || len(line) > version+digits && line[version+digits] != ' ' || !printable(line) {
		return 0, false
	}
	status, ok := decimal(line[version : version+digits])
	return int(status), ok && status >= 100 && status < 600
}

// cutField splits "name: value". A line that continues the one before it is
// refused, like every name that is no token.
func cutField(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" || !printable(value) {
		return "", "", false
	}
	for i := range len(name) {
		if !tokenByte(name[i]) {
			return "", "", false
		}
	}
	return name, strings.Trim(value, " \t"), true
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func tokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// framing is how the response says its body ends. The body is not read, but a
// head that contradicts itself was not written by a server one can believe.
type framing struct {
	lengths   int
	value     uint64
	encodings int
	bad       bool
}

func (f *framing) length(value string) {
	for part := range strings.SplitSeq(value, ",") {
		n, ok := decimal(strings.Trim(part, " \t"))
		f.bad = f.bad || !ok || f.lengths > 0 && n != f.value
		f.value = n
		f.lengths++
	}
}

func (f *framing) encoding(value string) {
	for part := range strings.SplitSeq(value, ",") {
		coding := strings.Trim(part, " \t")
		// chunked comes last and once, so nothing follows the first.
		f.bad = f.bad || coding == "" || f.encodings == chunkedSeen
		if strings.EqualFold(coding, "chunked") {
			f.encodings = chunkedSeen
		} else if f.encodings != chunkedSeen {
			f.encodings++
		}
	}
}

// chunkedSeen marks framing.encodings after the chunked coding.
const chunkedSeen = -1

func (f *framing) valid() bool { return !f.bad && (f.lengths == 0 || f.encodings == 0) }

// decimal reads digits only, within 64 bits.
func decimal(s string) (uint64, bool) {
	if s == "" || s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}
