package contract

import "strings"

// Limits of an HTTP request that a statement builds.
const (
	methodBytesMax  = 64
	targetBytesMax  = 8192
	headerFieldsMax = 128
	headerBytesMax  = 32 << 10 // names and values, in total and in one write
)

const (
	upperhex         = "0123456789ABCDEF"
	encodedInTarget  = "\"<>^`{|}" // printable ASCII that a URL cannot hold as it is
	tokenPunctuation = "!#$%&'*+-.^_`|~"
)

// RequestError says which part of an HTTP request is refused, without its value.
type RequestError struct {
	Field  string // "method", "path" or "header"
	Reason string
}

func (e *RequestError) Error() string { return "HTTP " + e.Field + " " + e.Reason }

// CheckMethod checks a method. A request with a body may be anything but GET and
// HEAD; CONNECT and TRACE are always refused, in any case of letters.
func CheckMethod(method string, hasBody bool) error {
	fail := func(reason string) error { return &RequestError{"method", reason} }
	if method == "" || len(method) > methodBytesMax || !isToken(method) {
		return fail("must be an HTTP token of 1 to 64 ASCII bytes")
	}
	switch upper := strings.ToUpper(method); upper {
	case "CONNECT", "TRACE":
		return fail(upper + " is not allowed")
	case "GET", "HEAD":
		if hasBody {
			return fail(upper + " is allowed only WITHOUT BODY")
		}
	}
	return nil
}

// NormalizeTarget checks path and query and returns what is written: non-ASCII
// percent-encoded, dot segments removed, everything else as it stands.
func NormalizeTarget(target string) (string, error) {
	fail := func(reason string) (string, error) { return "", &RequestError{"path", reason} }
	if target == "" || target[0] != '/' || strings.HasPrefix(target, "//") {
		return fail("must start with exactly one '/'")
	}
	var out strings.Builder
	out.Grow(len(target))
	for i := 0; i < len(target); i++ {
		switch c := target[i]; {
		case c <= ' ' || c == 0x7f:
			return fail("must not contain white space or control characters")
		case c == '\\':
			return fail("must not contain '\\'")
		case c == '#':
			return fail("must not contain a fragment")
		case c == '%':
			if i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2]) {
				return fail("has a malformed percent escape")
			}
			out.WriteByte(c)
		case c >= 0x80 || strings.IndexByte(encodedInTarget, c) >= 0:
			out.WriteByte('%')
			out.WriteByte(upperhex[c>>4])
			out.WriteByte(upperhex[c&15])
		default:
			out.WriteByte(c)
		}
		if out.Len() > 4*targetBytesMax { // dot segments may still shorten it, within reason
			return fail("is longer than 8192 bytes")
		}
	}
	path, query, hasQuery := strings.Cut(out.String(), "?")
	path = removeDotSegments(path)
	if strings.HasPrefix(path, "//") {
		return fail("must not normalize to '//'")
	}
	if hasQuery {
		path += "?" + query
	}
	if len(path) > targetBytesMax {
		return fail("is longer than 8192 bytes")
	}
	return path, nil
}

// removeDotSegments resolves "." and "..", in their escaped spellings too. The
// path starts with '/'.
func removeDotSegments(path string) string {
	if !strings.Contains(path, ".") && !strings.Contains(path, "%2") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	kept := segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch dots := strings.ReplaceAll(strings.ReplaceAll(segment, "%2e", "."), "%2E", "."); dots {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
			continue
		}
		if last {
			kept = append(kept, "") // "/a/." is the directory "/a/"
		}
	}
	return "/" + strings.Join(kept, "/")
}

// HeaderSet collects the header writes of one HTTP request: a later write
// replaces an earlier one of the same name, in its place.
type HeaderSet struct {
	headers []Header
	bytes   int
}

// Reset empties the set; what Headers returned stays valid.
func (h *HeaderSet) Reset() { *h = HeaderSet{} }

// Headers returns the fields in the order of their first write.
func (h *HeaderSet) Headers() []Header { return h.headers }

// Write adds one field. A refused write leaves the set as it was; the record is
// rejected even if a later write would have replaced the field.
func (h *HeaderSet) Write(name, value string) error {
	fail := func(reason string) error { return &RequestError{"header", reason} }
	if !isToken(name) {
		return fail("name must be an HTTP token")
	}
	if generatedHeader(name) {
		return fail("is not writable: the transport owns it")
	}
	if value != strings.Trim(value, " \t") {
		return fail("value must not begin or end with a space or a tab")
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fail("value must not contain control characters")
		}
	}
	size := len(name) + len(value)
	place := -1
	for i := range h.headers {
		if strings.EqualFold(h.headers[i].Name, name) {
			place = i
			size -= len(h.headers[i].Name) + len(h.headers[i].Value)
		}
	}
	switch {
	case len(name)+len(value) > headerBytesMax || h.bytes+size > headerBytesMax:
		return fail("fields exceed 32 KiB")
	case place < 0 && len(h.headers) == headerFieldsMax:
		return fail("fields exceed 128")
	case place >= 0:
		h.headers[place] = Header{name, value}
	default:
		h.headers = append(h.headers, Header{name, value})
	}
	h.bytes += size
	return nil
}

// generatedHeader reports whether the transport owns the field.
func generatedHeader(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
		"te", "trailer", "upgrade", "expect":
		return true
	}
	return false
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && !(c >= '0' && c <= '9') && strings.IndexByte(tokenPunctuation, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
