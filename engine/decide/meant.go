package decide

import (
	"strings"

	"plexus/engine/catalog"
	"plexus/nspl/vocab"
)

// meant proposes what a name that does not exist was meant to be: a name like it of
// that kind, or what has the name in another kind.
func (c *Candidate) meant(key catalog.Key) string {
	if near := nearest(key.Name, NewNames(c.state, c).Names(key.Kind)); near != "" {
		return near
	}
	for i := range c.entries {
		if k := c.entries[i].key; k.Name == key.Name && k.Kind != key.Kind {
			return "there is a " + k.String()
		}
	}
	return ""
}

// meantOperator proposes an operator for a name that none has.
func (c *Candidate) meantOperator(name string) string {
	var names []string
	for i := range c.entries {
		if Executes(c.entries[i].key.Kind) {
			names = append(names, c.entries[i].key.Name)
		}
	}
	return nearest(name, names)
}

// Meant proposes what a name that does not exist in a domain was meant to be, "" for
// nothing.
func Meant(state *catalog.State, domain string, key catalog.Key) string {
	if c, missing := NewCandidate(state, domain); missing == nil {
		return c.meant(key)
	}
	return nearest(key.Name, NewNames(state, nil).Names(key.Kind))
}

// membersListed bounds the nodes that a fault lists.
const membersListed = 8

// MeantNode lists the members of a small cluster, for a name that is none of them.
func MeantNode(state *catalog.State) string {
	nodes := NewNames(state, nil).Nodes()
	if len(nodes) == 0 || len(nodes) > membersListed {
		return ""
	}
	return "members are " + strings.Join(nodes, ", ")
}

func nearest(name string, names []string) string {
	if near := vocab.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
