package contract

import (
	"errors"
	"slices"
	"strings"

	"plexus/nspl/vocab"
)

// Limits on what the statement writes. Methods and targets bound themselves.
const (
	targetBytesMax  = 8192
	headerFieldsMax = 128
	headerBytesMax  = 32 << 10 // names and values, in total and in one write
)

// RequestError says which part of an HTTP request is refused. It never holds the
// value.
type RequestError struct {
	Field string // "method", "path", "header" or "header value"
	Err   error
}

func (e *RequestError) Error() string { return "HTTP " + e.Field + " " + e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

var (
	errMethodBody      = errors.New("GET and HEAD are allowed only WITHOUT BODY")
	errTargetNormal    = errors.New("must not normalize to a target that begins with '//'")
	errTargetLong      = errors.New("must not be longer than 8192 bytes")
	errHeadersTooLarge = errors.New("and the others exceed 32 KiB")
	errHeadersTooMany  = errors.New("and the others are more than 128")
)

// CheckMethod checks the method of one request.
func CheckMethod(method string, hasBody bool) error {
	err := vocab.HTTPMethod(method)
	if err == nil && hasBody && (strings.EqualFold(method, "GET") || strings.EqualFold(method, "HEAD")) {
		err = errMethodBody
	}
	if err != nil {
		return &RequestError{"method", err}
	}
	return nil
}

// encodedInTarget is the printable ASCII that a URL cannot hold as it is.
const encodedInTarget = "\"<>^`{|}"

// NormalizeTarget checks path and query and returns what is written: what a URL
// cannot hold percent-encoded, dot segments removed, everything else as it stands.
func NormalizeTarget(target string) (string, error) {
	if err := vocab.HTTPTarget(target); err != nil {
		return "", &RequestError{"path", err}
	}
	path, query, hasQuery := strings.Cut(escapeTarget(target), "?")
	path = removeDotSegments(path)
	if strings.HasPrefix(path, "//") {
		return "", &RequestError{"path", errTargetNormal}
	}
	if hasQuery {
		path += "?" + query
	}
	if len(path) > targetBytesMax {
		return "", &RequestError{"path", errTargetLong}
	}
	return path, nil
}

func escapeTarget(target string) string {
	plain := func(c byte) bool { return c < 0x80 && strings.IndexByte(encodedInTarget, c) < 0 }
	first := 0
	for first < len(target) && plain(target[first]) {
		first++
	}
	if first == len(target) {
		return target
	}
	out := append(make([]byte, 0, len(target)+16), target[:first]...)
	for i := first; i < len(target); i++ {
		if c := target[i]; plain(c) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperhex[c>>4], upperhex[c&15])
		}
	}
	return string(out)
}

const upperhex = "0123456789ABCDEF"

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

// Headers returns the fields in the order of their first write.
func (h *HeaderSet) Headers() []Header { return h.headers }

// Write adds one field. A refused write leaves the set as it was; the record is
// rejected even if a later write would have replaced the field.
func (h *HeaderSet) Write(name, value string) error {
	if err := vocab.HTTPHeaderName(name); err != nil {
		return &RequestError{"header", err}
	}
	if err := vocab.HTTPHeaderValue(value); err != nil {
		return &RequestError{"header value", err}
	}
	size := len(name) + len(value)
	place := slices.IndexFunc(h.headers, func(o Header) bool { return strings.EqualFold(o.Name, name) })
	total := h.bytes + size
	if place >= 0 {
		total -= len(h.headers[place].Name) + len(h.headers[place].Value)
	}
	switch {
	case size > headerBytesMax || total > headerBytesMax:
		return &RequestError{"header", errHeadersTooLarge}
	case place < 0 && len(h.headers) == headerFieldsMax:
		return &RequestError{"header", errHeadersTooMany}
	case place >= 0:
		h.headers[place] = Header{name, value}
	default:
		h.headers = append(h.headers, Header{name, value})
	}
	h.bytes = total
	return nil
}
