package client

import (
	"errors"
	"slices"
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
