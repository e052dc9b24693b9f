package dial

import (
	"fmt"
	"net/netip"
	"strings"
)

// Error says that no address of a host accepted a connection.
type Error struct {
	Host     string
	Port     uint16
	Attempts []Attempt // in the order they were made
}

// Attempt is one address and why it did not connect.
type Attempt struct {
	Addr netip.AddrPort
	Err  error
}

func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "cannot connect to '%s' port %d", e.Host, e.Port)
	for i, a := range e.Attempts {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&text, "%s%s: %v", separator, a.Addr, a.Err)
	}
	return text.String()
}

// Unwrap returns the cause of every attempt.
func (e *Error) Unwrap() []error {
	causes := make([]error, len(e.Attempts))
	for i, a := range e.Attempts {
		causes[i] = a.Err
	}
	return causes
}
