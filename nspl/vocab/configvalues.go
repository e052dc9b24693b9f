package vocab

import (
	"strconv"
	"strings"
	"time"
)

// The kinds of values. Each returns a check for a [ConfigKey], which says what was
// expected; the texts complete "key '<key>' ".

// timeoutMax keeps the end of a request inside the range of the clock.
const timeoutMax = 24 * time.Hour

func millis(text string) string {
	ms, err := strconv.ParseUint(text, 10, 63)
	if err != nil || ms == 0 || ms > uint64(timeoutMax/time.Millisecond) {
		return "must be a whole number of milliseconds from 1 through 86400000"
	}
	return ""
}

func boolean(text string) string {
	if text != "true" && text != "false" {
		return "must be true or false"
	}
	return ""
}

// filled refuses an empty value.
func filled(text string) string {
	if text == "" {
		return "must not be empty"
	}
	return ""
}

func whole(low, high uint64) func(string) string {
	return func(text string) string {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < low || n > high {
			return "must be a whole number from " + strconv.FormatUint(low, 10) + " through " + strconv.FormatUint(high, 10)
		}
		return ""
	}
}

func oneOf(words ...string) func(string) string {
	return func(text string) string {
		for _, w := range words {
			if w == text {
				return ""
			}
		}
		return "must be one of " + strings.Join(words, ", ")
	}
}

// urlOf takes one URL of the given schemes; a port, if there is one, is a port.
func urlOf(schemes ...string) func(string) string {
	return func(text string) string {
		u := parseURL(text, schemes...)
		switch {
		case u == nil:
			return expectURL(schemes...)
		case !hostOK(u.Hostname()):
			return "has a malformed IPv6 address"
		}
		if _, ok := portNumber(u.Port()); u.Port() != "" && !ok {
			return expectPort
		}
		return ""
	}
}

// hostPorts takes a list of host:port; the port may be left out if it has a
// default.
func hostPorts(needPort bool) func(string) string {
	return func(text string) string {
		for _, part := range strings.Split(text, ",") {
			if expect := hostPort(strings.TrimSpace(part), needPort); expect != "" {
				return expect
			}
		}
		return ""
	}
}

func hostPort(text string, needPort bool) string {
	u := parseURL("tcp://"+text, "tcp")
	switch {
	case u == nil || u.User != nil || u.Path != "" || u.RawQuery != "" || needPort && u.Port() == "":
		if needPort {
			return "must be host:port"
		}
		return "must be host:port, or several with commas between them"
	case !hostOK(u.Hostname()):
		return "has a malformed IPv6 address"
	}
	if _, ok := portNumber(u.Port()); u.Port() != "" && !ok {
		return expectPort
	}
	return ""
}

// scheme returns what stands before "://".
func scheme(text string) string {
	s, _, _ := strings.Cut(text, "://")
	return s
}
