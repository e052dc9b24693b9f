package dns

import (
	"errors"
	"fmt"
)

// LookupFailure says why a name has no address.
type LookupFailure uint8

// The failures of a lookup.
const (
	NameNotFound LookupFailure = iota + 1 // the name does not exist
	NoAddresses                           // it exists without A or AAAA
	Timeout                               // the deadline passed, the caller gave up, or every try timed out
	Refused                               // a server refused or failed
	Unreachable                           // no server could be asked, or none answered usably
	InvalidName                           // neither an address nor a name
)

var reasons = map[LookupFailure]string{
	NameNotFound: "no such name",
	NoAddresses:  "no address",
	Timeout:      "no answer in time",
	Refused:      "refused by name server",
	Unreachable:  "name servers unreachable",
	InvalidName:  "not a DNS name",
}

func (f LookupFailure) String() string { return reasons[f] }

// LookupError is the failure of a lookup. Err, where there is one, is what
// happened underneath: a socket error, or why the caller gave up.
type LookupError struct {
	Host    string
	Failure LookupFailure
	Err     error
}

func (e *LookupError) Error() string {
	return fmt.Sprintf("cannot resolve '%s': %s", e.Host, e.Failure)
}

func (e *LookupError) Unwrap() error { return e.Err }

// ErrUnusable fails the start of a node whose resolver configuration cannot be
// used; it wraps one cause.
var ErrUnusable = errors.New("resolver configuration unusable")

// The causes beneath ErrUnusable, beside errors of the file system and of a
// cancelled load.
var (
	ErrNoServer     = errors.New("no name server named")
	ErrSearchDomain = errors.New("invalid search domain")
	ErrFileTooLarge = errors.New("file too large")
)

// failure is the outcome of a question that brought no address.
type failure struct {
	kind LookupFailure
	err  error
}

func (f *failure) Error() string { return f.kind.String() }

func (f *failure) Unwrap() error { return f.err }
