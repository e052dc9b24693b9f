package vocab

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// What is wrong with a field of an HTTP request. The messages complete
// "<field> '<text>' ".
var (
	errMethodToken    = errors.New("must be 1 to 64 characters of an HTTP token")
	errMethodRefused  = errors.New("is not a method this sink sends")
	errTargetStart    = errors.New("must start with exactly one '/'")
	errTargetChar     = errors.New("must not contain '#', '\\', white space or control characters")
	errTargetEscape   = errors.New("has a malformed percent escape")
	errTargetLong     = errors.New("must not be longer than 8192 bytes")
	errHeaderToken    = errors.New("must be an HTTP token")
	errHeaderReserved = errors.New("is written by the transport itself")
	errHeaderChar     = errors.New("must not contain control characters")
	errHeaderSpace    = errors.New("must not begin or end with a space or tab")
	errHeaderUTF8     = errors.New("is not UTF-8")
)

const (
	methodBytesMax = 64
	// targetBytesMax is what common servers accept in a request line.
	targetBytesMax = 8192
)

// HTTPMethod checks the method of a request.
func HTTPMethod(text string) error {
	switch {
	case len(text) > methodBytesMax || !httpToken(text):
		return errMethodToken
	case strings.EqualFold(text, "CONNECT") || strings.EqualFold(text, "TRACE"):
		return errMethodRefused
	}
	return nil
}

// HTTPTarget checks the path and query of a request, before dot segments are
// removed and other characters are percent-encoded.
func HTTPTarget(text string) error {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return errTargetStart
	}
	length := 0
	for i := range len(text) {
		switch b := text[i]; {
		case b <= ' ' || b == 0x7f || b == '#' || b == '\\':
			return errTargetChar
		case b == '%' && (i+2 >= len(text) || !hexDigit(text[i+1]) || !hexDigit(text[i+2])):
			return errTargetEscape
		case b >= utf8.RuneSelf:
			length += len("%00")
		default:
			length++
		}
	}
	if length > targetBytesMax {
		return errTargetLong
	}
	return nil
}

// reservedHeaders belong to the transport.
var reservedHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive",
	"Proxy-Connection", "TE", "Trailer", "Upgrade", "Expect"}

// HTTPHeaderName checks the name of a header that a statement writes.
func HTTPHeaderName(text string) error {
	if !httpToken(text) {
		return errHeaderToken
	}
	for _, name := range reservedHeaders {
		if strings.EqualFold(name, text) {
			return errHeaderReserved
		}
	}
	return nil
}

// HTTPHeaderValue checks the value of a header.
func HTTPHeaderValue(text string) error {
	if !utf8.ValidString(text) {
		return errHeaderUTF8
	}
	for i := range len(text) {
		if b := text[i]; b < ' ' && b != '\t' || b == 0x7f {
			return errHeaderChar
		}
	}
	if strings.Trim(text, " \t") != text {
		return errHeaderSpace
	}
	return nil
}

func httpToken(text string) bool {
	for i := range len(text) {
		b := text[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(b)) || b >= utf8.RuneSelf {
			return false
		}
	}
	return text != ""
}

func hexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}
