package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// learnedMax bounds the servers that a session remembers beside its seeds.
const learnedMax = 32

var errNoServer = errors.New("no server is given")

// servers are the nodes a session can go to.
type servers struct {
	seeds   []string
	learned []string // oldest first
}

// learn remembers a server that a node named.
func (s *servers) learn(server string) {
	if server == "" || slices.Contains(s.seeds, server) || slices.Contains(s.learned, server) {
		return
	}
	if len(s.learned) == learnedMax {
		s.learned = s.learned[1:]
	}
	s.learned = append(s.learned[:len(s.learned):len(s.learned)], server)
}

// order returns the servers in the order of reconnecting: the one that failed
// comes last.
func (s *servers) order(last string) []string {
	all := slices.Concat(s.seeds, s.learned)
	all = slices.DeleteFunc(all, func(server string) bool { return server == last })
	return append(all, last)
}

// serversError says of each server that was tried why it was no use.
type serversError struct {
	servers []string
	errs    []error
}

func (e *serversError) add(server string, err error) {
	if !slices.Contains(e.servers, server) {
		e.servers, e.errs = append(e.servers, server), append(e.errs, err)
	}
}

// err is the only error, or all of them.
func (e *serversError) err() error {
	switch len(e.errs) {
	case 0:
		return errNoServer
	case 1:
		return e.errs[0]
	}
	return e
}

func (e *serversError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "none of %d servers can be used:", len(e.errs))
	for i, err := range e.errs {
		b.WriteString("\n  ")
		if text := err.Error(); strings.Contains(text, e.servers[i]) {
			b.WriteString(text)
		} else {
			fmt.Fprintf(&b, "%s: %s", e.servers[i], text)
		}
	}
	return b.String()
}

func (e *serversError) Unwrap() []error { return e.errs }
